//! Addresses inside a page: ids are data and are encoded.

/// A text as one value of an address, as `encodeURIComponent` writes it.
pub(super) fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'!' | b'~' | b'*' | b'\'' | b'(' | b')' => {
                out.push(char::from(byte));
            }
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// A path as part of an address: the parts are encoded, `/` stays.
pub(super) fn encoded_path(path: &str) -> String {
    let part = |part: &str| {
        // the script accepts fewer signs in a link than an address may have
        let signs = [('!', "%21"), ('*', "%2A"), ('\'', "%27"), ('(', "%28"), (')', "%29")];
        signs.iter().fold(encoded(part), |text, (sign, number)| text.replace(*sign, number))
    };
    path.split('/').map(part).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::encoded;

    #[test]
    fn an_id_cannot_leave_its_value() {
        assert_eq!(encoded("a-b_c.1"), "a-b_c.1");
        assert_eq!(encoded("a/b&f=eyes#x <é>"), "a%2Fb%26f%3Deyes%23x%20%3C%C3%A9%3E");
    }
}
