use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::lexicon::{Tongue, Words, name, zipf};
use crate::rng::Rng;
use crate::{Error, Result};

/// Size and shape of a made-up vault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VaultSpec {
    pub notes: usize,
    /// Mean size of a note in bytes.
    pub mean_bytes: usize,
    /// Mean number of links in a note.
    pub links: usize,
    pub seed: u64,
}

impl VaultSpec {
    /// The vault of the speed figures: mean 2 kB, 5 links a note.
    pub fn new(notes: usize) -> Self {
        Self {
            notes,
            mean_bytes: 2_000,
            links: 5,
            seed: 42,
        }
    }
}

/// A note of a made-up vault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeneratedNote {
    /// Relative to the vault, with `/`.
    pub path: String,
    pub title: String,
    pub text: String,
}

/// A made-up vault: notes in English, Portuguese and Chinese (3 : 2 : 1) with front matter, headings, lists, names
/// that recur, and links to notes of which a few are far more popular than the rest. Notes are made one at a time.
pub struct Vault {
    spec: VaultSpec,
    titles: Vec<String>,
    names: [Vec<String>; 3],
    words: [Words; 3],
    /// Running popularity of names and of link targets.
    popularity: Vec<f64>,
    /// Notes by popularity.
    by_popularity: Vec<u32>,
}

impl Vault {
    /// Draws titles, names and words; the notes follow from them.
    pub fn new(spec: VaultSpec) -> Self {
        let mut rng = Rng::new(spec.seed);
        let mut taken = HashSet::new();
        let titles = (0..spec.notes)
            .map(|n| {
                loop {
                    let title = name(tongue(n), &mut rng);
                    // A few made-up names collide; the second one of a name gets a number.
                    let title = if taken.contains(&title) {
                        format!("{title} {n}")
                    } else {
                        title
                    };
                    if taken.insert(title.clone()) {
                        break title;
                    }
                }
            })
            .collect();
        let names = Tongue::ALL.map(|tongue| {
            (0..spec.notes / 4 + 20)
                .map(|_| name(tongue, &mut rng))
                .collect()
        });
        let mut by_popularity: Vec<u32> = (0..spec.notes as u32).collect();
        rng.shuffle(&mut by_popularity);
        let mut sum = 0.0;
        let popularity = (0..spec.notes.max(spec.notes / 4 + 20))
            .map(|rank| {
                sum += 1.0 / libm::pow(rank as f64 + 5.0, 0.8);
                sum
            })
            .collect();
        Self {
            spec,
            titles,
            names,
            words: Tongue::ALL.map(|tongue| Words::new(tongue, 30_000, spec.seed)),
            popularity,
            by_popularity,
        }
    }

    /// Number of notes.
    pub fn len(&self) -> usize {
        self.spec.notes
    }

    /// Whether the vault has no note.
    pub fn is_empty(&self) -> bool {
        self.spec.notes == 0
    }

    /// Note `n` of `0..len()`.
    pub fn note(&self, n: usize) -> GeneratedNote {
        let mut rng = Rng::of_item(self.spec.seed, n as u64);
        let tongue = tongue(n);
        let title = &self.titles[n];
        let size = self.spec.mean_bytes * 3 / 10 + rng.below(self.spec.mean_bytes * 14 / 10);
        let links = if self.spec.links == 0 {
            0
        } else {
            self.spec.links - 1 + rng.below(3)
        };
        let mut text = String::with_capacity(size + 200);
        if rng.chance(0.5) {
            let day = 1 + rng.below(28);
            let _ = writeln!(
                text,
                "---\ntags: [topic{}, area{}]\ndate: 20{:02}-{:02}-{day:02}\n---",
                rng.below(40),
                n % 17,
                10 + rng.below(15),
                1 + rng.below(12)
            );
        }
        let _ = writeln!(text, "# {title}\n");
        let mut linked = 0;
        let mut paragraphs = 0;
        while text.len() < size {
            if paragraphs > 0 && rng.chance(0.25) {
                let _ = writeln!(
                    text,
                    "## {}\n",
                    self.words[tongue as usize].draw_rare(&mut rng)
                );
            }
            for _ in 0..2 + rng.below(3) {
                // Links are spread over the note in proportion to what is written.
                let link = linked < links && linked * size <= links * text.len();
                linked += usize::from(link);
                self.sentence(tongue, link, &mut rng, &mut text);
            }
            text.push_str("\n\n");
            paragraphs += 1;
        }
        while linked < links {
            let _ = writeln!(text, "- [[{}]]", self.target(&mut rng));
            linked += 1;
        }
        GeneratedNote {
            path: format!("area{:02}/{title}.md", n % 17),
            title: title.clone(),
            text,
        }
    }

    /// Writes every note below `folder`.
    pub fn write(&self, folder: &Path) -> Result<()> {
        for area in 0..17 {
            let path = folder.join(format!("area{area:02}"));
            fs::create_dir_all(&path).map_err(Error::io(path))?;
        }
        for n in 0..self.len() {
            let note = self.note(n);
            let path = folder.join(&note.path);
            fs::write(&path, &note.text).map_err(Error::io(path))?;
        }
        Ok(())
    }

    /// A natural question of ten words or more (twenty characters in Chinese) about note `n`: two names that recur in
    /// the vault or the note's title, and words that carry meaning.
    pub fn question(&self, n: usize) -> String {
        let mut rng = Rng::of_item(self.spec.seed ^ 0x51, n as u64);
        let tongue = tongue(n);
        super::question::ask(
            tongue,
            &self.words[tongue as usize],
            self.a_name(tongue, &mut rng),
            &self.titles[n],
            &mut rng,
        )
    }

    fn sentence(&self, tongue: Tongue, link: bool, rng: &mut Rng, text: &mut String) {
        let words = &self.words[tongue as usize];
        let length = 8 + rng.below(14);
        let link_at = link.then(|| 2 + rng.below(length - 2));
        let gap = if tongue == Tongue::Chinese { "" } else { " " };
        for place in 0..length {
            if place > 0 {
                text.push_str(gap);
            }
            if link_at == Some(place) {
                let target = self.target(rng);
                if rng.chance(0.3) {
                    let _ = write!(text, "[[{target}|{}]]", words.draw_rare(rng));
                } else {
                    let _ = write!(text, "[[{target}]]");
                }
            } else if rng.chance(0.06) {
                text.push_str(self.a_name(tongue, rng));
            } else if place == 0 && tongue != Tongue::Chinese {
                let mut letters = words.draw(rng).chars();
                text.extend(letters.next().into_iter().flat_map(char::to_uppercase));
                text.extend(letters);
            } else {
                text.push_str(words.draw(rng));
            }
        }
        text.push_str(if tongue == Tongue::Chinese {
            "。"
        } else {
            ". "
        });
    }

    fn a_name(&self, tongue: Tongue, rng: &mut Rng) -> &str {
        let names = &self.names[tongue as usize];
        &names[zipf(rng, &self.popularity[..names.len()])]
    }

    fn target(&self, rng: &mut Rng) -> &str {
        let rank = zipf(rng, &self.popularity[..self.spec.notes]);
        &self.titles[self.by_popularity[rank] as usize]
    }
}

fn tongue(note: usize) -> Tongue {
    match note % 6 {
        0 | 2 | 4 => Tongue::English,
        1 | 3 => Tongue::Portuguese,
        _ => Tongue::Chinese,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vault_has_the_size_and_links_asked_for() {
        let vault = Vault::new(VaultSpec::new(600));
        let notes: Vec<_> = (0..600).map(|n| vault.note(n)).collect();
        let bytes: usize = notes.iter().map(|note| note.text.len()).sum();
        let links: usize = notes
            .iter()
            .map(|note| note.text.matches("[[").count())
            .sum();
        assert!((1_800..2_300).contains(&(bytes / 600)), "{}", bytes / 600);
        assert!((2_800..3_200).contains(&links), "{links}");
        let paths: HashSet<_> = notes.iter().map(|note| &note.path).collect();
        assert_eq!(paths.len(), 600);
    }

    #[test]
    fn notes_depend_on_the_seed_alone() {
        let one = Vault::new(VaultSpec::new(50));
        let two = Vault::new(VaultSpec::new(50));
        let other = Vault::new(VaultSpec {
            seed: 43,
            ..VaultSpec::new(50)
        });
        assert_eq!(one.note(31), two.note(31));
        assert_ne!(one.note(31), other.note(31));
        assert_eq!(one.question(9), two.question(9));
    }

    #[test]
    fn every_link_points_to_a_note() {
        let vault = Vault::new(VaultSpec::new(40));
        let titles: HashSet<_> = (0..40).map(|n| vault.note(n).title).collect();
        for n in 0..40 {
            for link in vault.note(n).text.split("[[").skip(1) {
                let target = link.split(['|', ']']).next().unwrap();
                assert!(titles.contains(target), "{target}");
            }
        }
    }

    #[test]
    fn questions_are_long_enough() {
        let vault = Vault::new(VaultSpec::new(60));
        for n in 0..60 {
            let question = vault.question(n);
            let long = question.split_whitespace().count() >= 10 || question.chars().count() >= 20;
            assert!(long, "{question}");
        }
    }

    #[test]
    fn a_written_vault_is_there() {
        let dir = tempfile::tempdir().unwrap();
        let vault = Vault::new(VaultSpec::new(20));
        vault.write(dir.path()).unwrap();
        let note = vault.note(19);
        assert_eq!(
            fs::read_to_string(dir.path().join(note.path)).unwrap(),
            note.text
        );
    }
}
