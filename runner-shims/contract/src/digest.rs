//! SHA-256 of single files and of sets of files.

use std::fmt;
use std::io::{self, Read};

use sha2::{Digest, Sha256};

/// SHA-256 of a file's bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ContentDigest([u8; 32]);

impl ContentDigest {
    /// The digest of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// In hexadecimal, as ASCII.
    fn digits(&self) -> [u8; 64] {
        let mut digits = [0; 64];
        for (pair, byte) in digits.chunks_exact_mut(2).zip(self.0) {
            pair.copy_from_slice(&[byte >> 4, byte & 15].map(|digit| b"0123456789abcdef"[usize::from(digit)]));
        }
        digits
    }

    /// Its first eight bytes as a number, for telling contents apart where 32 bytes each would be many.
    pub fn start(&self) -> u64 {
        let mut start = [0; 8];
        start.copy_from_slice(&self.0[..8]);
        u64::from_be_bytes(start)
    }

    /// The digest of everything that a reader gives, in constant memory.
    ///
    /// # Errors
    /// Those of the reader.
    pub fn of_reader(mut reader: impl Read) -> io::Result<Self> {
        let mut hasher = Sha256::new();
        let mut buffer = [0; 64 * 1024];
        loop {
            match reader.read(&mut buffer)? {
                0 => return Ok(Self(hasher.finalize().into())),
                count => hasher.update(&buffer[..count]),
            }
        }
    }
}

impl fmt::Display for ContentDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.digits().map(char::from).iter().collect::<String>())
    }
}

impl fmt::Debug for ContentDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Collects the files that were read and digests them in an order that does not depend on the reading.
#[derive(Debug, Default)]
pub struct TreeDigest {
    files: Vec<(String, ContentDigest)>,
    /// Of the first files, those that came in the order of their paths.
    hasher: Sha256,
    /// Files that went into it.
    hashed: usize,
}

impl TreeDigest {
    /// Adds files: paths with `/` between components, relative to the root of the tree.
    ///
    /// Whoever adds them in the order of their paths makes [`TreeDigest::finish`] quick.
    pub fn extend(&mut self, files: impl IntoIterator<Item = (String, ContentDigest)>) {
        for (path, digest) in files {
            let is_next = self.files.last().is_none_or(|(last, _)| Self::path_order(last, &path).is_lt());
            if is_next && self.hashed == self.files.len() {
                add_line(&mut self.hasher, &path, &digest);
                self.hashed += 1;
            }
            self.files.push((path, digest));
        }
    }

    /// The order of two paths: by components, of which each is ordered by its bytes.
    pub fn path_order(a: &str, b: &str) -> std::cmp::Ordering {
        // no name holds a NUL, so that bytes order components once `/` comes before all others
        let key = |byte: u8| if byte == b'/' { 0 } else { byte };
        let differing = a.bytes().zip(b.bytes()).find(|(a, b)| a != b);
        differing.map_or_else(|| a.len().cmp(&b.len()), |(a, b)| key(a).cmp(&key(b)))
    }

    /// `sha256:` and the hexadecimal SHA-256 over `path NUL hex-digest LF` of every file, ordered by path components.
    /// A file that was added twice counts once.
    pub fn finish(mut self) -> String {
        let mut hasher = self.hasher;
        if self.hashed < self.files.len() {
            self.files.sort_by(|(a, _), (b, _)| Self::path_order(a, b));
            self.files.dedup_by(|(a, _), (b, _)| a == b);
            hasher = Sha256::new();
            self.files.iter().for_each(|(path, digest)| add_line(&mut hasher, path, digest));
        }
        format!("sha256:{}", ContentDigest(hasher.finalize().into()))
    }
}

fn add_line(hasher: &mut Sha256, path: &str, digest: &ContentDigest) {
    hasher.update(path.as_bytes());
    hasher.update([0]);
    hasher.update(digest.digits());
    hasher.update([b'\n']);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_digest_is_sha_256() {
        // FIPS 180-4 example "abc"
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(ContentDigest::of(b"abc").to_string(), expected);
    }

    #[test]
    fn paths_are_ordered_by_their_components() {
        let mut paths = ["b", "a/c", "a.b/c", "a/b/c", "a/b", "a", "a b", "a/é", "a-/x"];
        paths.sort_by(|a, b| TreeDigest::path_order(a, b));
        let mut expected = paths;
        expected.sort_by(|a, b| a.split('/').cmp(b.split('/')));
        assert_eq!(paths, expected);
        assert_eq!(paths, ["a", "a/b", "a/b/c", "a/c", "a/é", "a b", "a-/x", "a.b/c", "b"]);
    }

    #[test]
    fn tree_digest_does_not_depend_on_the_order_of_reading() {
        let file = |path: &str| (path.to_owned(), ContentDigest::of(path.as_bytes()));
        let mut first = TreeDigest::default();
        first.extend([file("a/b"), file("a.b/c"), file("z")]);
        let mut second = TreeDigest::default();
        second.extend([file("z"), file("a.b/c"), file("a/b"), file("z")]);
        // in order at first, and one file twice in a row
        let mut third = TreeDigest::default();
        third.extend([file("a/b"), file("z"), file("z"), file("a.b/c")]);
        let digest = first.finish();
        assert_eq!(digest, second.finish());
        assert_eq!(digest, third.finish());
        // printf 'a/b\0%s\na.b/c\0%s\nz\0%s\n' with each sha256sum, piped into sha256sum
        assert_eq!(digest.len(), "sha256:".len() + 64);
    }
}
