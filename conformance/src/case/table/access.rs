//! Who may call: cases for authenticated endpoints.

use crate::case::Play::{Family, First, Procedure as P};
use crate::case::{Case, Family as F, Procedure};

/// Access.
pub(super) const CASES: &[Case] = &[
    Case::required("access.accepted", "access.modes", First)
        .shows("The endpoint takes calls under the access mode that was named.")
        .todo("Name the mode that the endpoint has with --access, and put a key that it accepts now into MILLWORK_KIT_ENDPOINT_KEY."),
    Case::required("access.missing_key_before_probe", "access.modes.managed", P(Procedure::MissingKey))
        .authenticated()
        .shows("Without a key even the probe gets 401, and no verdict.")
        .todo("Check the key before anything else, the probe included, and answer 401."),
    Case::required("access.wrong_key_before_probe", "access.modes.managed", P(Procedure::WrongKey))
        .authenticated()
        .shows("With a wrong key even the probe gets 401, and no verdict.")
        .todo("Compare the key itself, not only whether there is one, and answer 401."),
    Case::required("access.similar_key_rejected", "access.modes.managed", P(Procedure::SimilarKeys))
        .authenticated()
        .shows("A key that is one character shorter or longer than the right one gets 401.")
        .todo("Compare whole keys. Comparing digests of both takes care of lengths and of timing."),
    Case::required("access.overlap_key_accepted.<n>", "access.modes.managed", Family(F::Overlap))
        .authenticated()
        .shows("While keys change, each key of MILLWORK_KIT_OVERLAP_KEYS is accepted beside the first.")
        .todo("Let the endpoint accept a list of keys, so that a key can be changed without a gap."),
    Case::required("access.retired_key_rejected.<n>", "access.modes.managed", Family(F::Retired))
        .authenticated()
        .shows("Each key of MILLWORK_KIT_RETIRED_KEYS gets 401.")
        .todo("Take the key out of the endpoint's list, and make sure that every instance has read the new list."),
    Case::recommended("access.refused_before_body", "access.modes.managed", P(Procedure::RefusedBeforeBody))
        .authenticated()
        .shows("Without a key the 401 comes while the body is still on its way.")
        .todo("Answer from the head alone. A gateway in front that buffers bodies hides this; then the gateway bounds them."),
    Case::recommended("access.refused_before_parsing", "access.modes.managed", P(Procedure::RefusedBeforeParsing))
        .authenticated()
        .shows("Without a key a body that is not JSON gets 401, not 400.")
        .todo("Check the key before the body is parsed, so that strangers reach no more code than needed."),
    Case::recommended("access.challenge", "access.authentication_failure", P(Procedure::Challenge))
        .authenticated()
        .shows("The 401 says `WWW-Authenticate: Bearer`.")
        .todo("Add the header to the 401; HTTP asks for it."),
    Case::recommended("access.scheme_in_any_case", "access.modes.managed", P(Procedure::SchemeCase))
        .authenticated()
        .shows("`bearer` in lower case is the same scheme as `Bearer`.")
        .todo("Compare the name of the scheme without regard to case."),
];
