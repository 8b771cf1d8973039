//! Queries made of the words of real ones.

/// The same queries for the same seed.
pub(crate) struct Random(u64);

const SEEDS: &[&str] = &[
    "MATCH (a:Pessoa)-[r:TRABALHA_EM]->(b) WHERE a.nome STARTS WITH 'A' RETURN a, type(r), b.name LIMIT 5",
    "MATCH p = (a)-[*1..3]-(b) WHERE a <> b RETURN length(p) AS n, count(*) ORDER BY n DESC SKIP 1",
    "MATCH (a) OPTIONAL MATCH (a)-[r]->(b:Projeto) WITH a, collect(b.name) AS names RETURN a.name, names",
    "UNWIND [1, 2.5, 'x', null, true, [1], {a: 1}] AS x RETURN DISTINCT x, x = x, x < 2, x IS NULL",
    "RETURN [x IN range(0, 10) WHERE x % 2 = 0 | x ^ 2] AS s, all(y IN [1, 2] WHERE y > 0), reduce(s = 0, z IN [1, 2] | s + z)",
    "MATCH (a) WHERE (a)-->(:Projeto) AND NOT exists((a)<--()) RETURN a { .name, n: size([(a)--(c) | c]) }",
    "RETURN date('2015-07-21') + duration('P1M2DT3H'), datetime({year: 2015, week: 30, timezone: 'Europe/Lisbon'}).epochMillis",
    "MATCH p = allShortestPaths((a {name: 'Ana'})-[*..4]-(b)) RETURN nodes(p), relationships(p)",
    "CALL search.fulltext('ponte', 3) YIELD node, score RETURN node.text, score UNION ALL RETURN 1 AS `node.text`, 2 AS score",
    "MATCH (n) RETURN labels(n), keys(n), properties(n), CASE n.name WHEN 'Ana' THEN 1 ELSE n.degree END ORDER BY n.name",
    "RETURN substring('héllo', 1, 3), split('a,b', ','), toInteger('7'), $p[0], -9223372036854775808, 0x1F, 1e3, '\\u00e9'",
    "MATCH (a) WITH a ORDER BY a.name LIMIT 3 WHERE a.degree > 0 RETURN avg(a.degree), stDev(a.degree), percentileCont(a.degree, 0.5)",
    "MATCH (n) WHERE EXISTS { MATCH (n)-->(m) WHERE m.name CONTAINS 'e' } RETURN COUNT { (n)--() } AS c, n.name =~ '.*a'",
];

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % below.max(1) as u64) as usize
    }

    fn words(&mut self) -> Vec<&'static str> {
        let seed = SEEDS[self.next(SEEDS.len())];
        seed.split_inclusive(|letter: char| !letter.is_alphanumeric())
            .collect()
    }

    /// A query with some of its words changed for, put behind or taken from those of others.
    pub(crate) fn query(&mut self) -> String {
        let mut words = self.words();
        for _ in 0..self.next(5) {
            let other = self.words();
            let from = self.next(other.len());
            let to = (from + 1 + self.next(6)).min(other.len());
            let place = self.next(words.len());
            match self.next(4) {
                0 => drop(words.splice(place..=place, other[from..to].iter().copied())),
                1 => drop(words.splice(place..place, other[from..to].iter().copied())),
                2 => drop(words.remove(place)),
                _ => {
                    let with = self.next(words.len());
                    words.swap(place, with);
                }
            }
            if words.is_empty() {
                words.push("RETURN 1");
            }
        }
        let mut query: String = words.concat();
        if self.next(20) == 0 {
            let strange = ["\u{0}", "`", "'", "/*", "－", "😀", "((((", "]", "$", "\\"];
            let mut place = self.next(query.len() + 1);
            while !query.is_char_boundary(place) {
                place -= 1;
            }
            query.insert_str(place, strange[self.next(strange.len())]);
        }
        query
    }
}
