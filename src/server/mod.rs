//! The server: everything that touches a socket, a clock, a file or the environment.

pub mod access;
pub mod watch;
