//! The `millwork-dock` command.

fn main() {}
