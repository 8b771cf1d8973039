use crate::rng::Rng;

/// A language the generator writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tongue {
    English,
    Portuguese,
    Chinese,
}

impl Tongue {
    pub(super) const ALL: [Self; 3] = [Self::English, Self::Portuguese, Self::Chinese];
}

const ENGLISH: &str = "the of and to in a is that for it as was with be by on not he his but at are this have from \
    or had an they which one you were all her she there would their we him been has when who will no more if out so \
    up what its about than into them can only other time new some could these two may first then do any like my now \
    over such our even most made after also well before must through years where much your way down should because \
    long each just state those people how too little good world make very year still see work life never day same \
    another know while last might great old off come since against go came right used take three";

const PORTUGUESE: &str = "de a o que e do da em um para com não uma os no se na por mais as dos como mas foi ao ele \
    das tem à seu sua ou ser quando muito há nos já está eu também só pelo pela até isso ela entre era depois sem \
    mesmo aos ter seus quem nas me esse eles estão você tinha foram essa num nem suas meu às minha têm numa pelos \
    elas havia seja qual será nós tenho lhe deles essas esses pelas este fosse dele cada onde ainda ano anos vida \
    dia tempo casa mundo trabalho parte grande novo outro outra fazer pode dizer sobre todos toda";

const CHINESE_COMMON: &str = "的一是了在人有我他这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可里后\
    小么心多天而能好都然没日于起还发成事只作当想看文无开手十用主行方又如前所本见经头面公同三已老从动两长";

const CHINESE_RARE: &str = "河桥港塔灯档册图谱卷章铁铜银纸墨琴棋钟楼窗门墙庭院林松竹梅兰菊稻麦茶盐糖蜜羊马牛鱼鸟虫石沙泥火\
    烟雾雨雪霜露云星月潮浪岛湾峡谷岭坡原野渠井泉湖泽溪舟帆桨锚绳网箱柜架梯轮轴齿簧镜尺秤砝炉窑陶瓷丝麻布帛针线刀剪锤锯钉";

const STARTS: [&str; 24] = [
    "b", "br", "c", "cl", "d", "dr", "f", "fl", "g", "gr", "h", "j", "l", "m", "n", "p", "pl",
    "qu", "r", "s", "st", "t", "tr", "v",
];
const MIDDLES: [&str; 12] = [
    "a", "e", "i", "o", "u", "ai", "ea", "or", "an", "el", "in", "ou",
];
const ENGLISH_ENDS: [&str; 12] = [
    "tion", "ing", "ed", "ly", "ment", "er", "ness", "al", "ive", "ous", "ship", "ist",
];
const PORTUGUESE_ENDS: [&str; 12] = [
    "ção", "mente", "ando", "eiro", "dade", "agem", "ista", "ável", "oso", "ura", "ência", "inho",
];

/// Words of one language, most frequent first, drawn by Zipf's law (Mandelbrot's form, exponent 1).
pub(super) struct Words {
    words: Vec<String>,
    /// Running sum of the weights.
    cumulative: Vec<f64>,
}

impl Words {
    /// Common words of the language, then made-up ones up to `size`.
    pub(super) fn new(tongue: Tongue, size: usize, seed: u64) -> Self {
        let mut words: Vec<String> = match tongue {
            Tongue::English => ENGLISH.split_whitespace().map(str::to_owned).collect(),
            Tongue::Portuguese => PORTUGUESE.split_whitespace().map(str::to_owned).collect(),
            Tongue::Chinese => CHINESE_COMMON.chars().map(String::from).collect(),
        };
        let mut rng = Rng::of_item(seed, tongue as u64);
        while words.len() < size {
            words.push(match tongue {
                Tongue::English => made_up(&mut rng, &ENGLISH_ENDS),
                Tongue::Portuguese => made_up(&mut rng, &PORTUGUESE_ENDS),
                Tongue::Chinese => chinese(&mut rng),
            });
        }
        let mut sum = 0.0;
        let cumulative = (0..words.len())
            .map(|rank| {
                sum += 1.0 / (rank as f64 + 2.7);
                sum
            })
            .collect();
        Self { words, cumulative }
    }

    /// A word by its frequency.
    pub(super) fn draw(&self, rng: &mut Rng) -> &str {
        &self.words[zipf(rng, &self.cumulative)]
    }

    /// A word that carries meaning: not among the 200 most frequent.
    pub(super) fn draw_rare(&self, rng: &mut Rng) -> &str {
        loop {
            let place = zipf(rng, &self.cumulative);
            if place >= 200.min(self.words.len() / 2) {
                return &self.words[place];
            }
        }
    }
}

/// A position drawn from running sums of weights.
pub(super) fn zipf(rng: &mut Rng, cumulative: &[f64]) -> usize {
    let at = rng.unit() * cumulative.last().copied().unwrap_or(0.0);
    cumulative
        .partition_point(|&sum| sum <= at)
        .min(cumulative.len() - 1)
}

fn made_up(rng: &mut Rng, ends: &[&str]) -> String {
    let mut word = String::new();
    for _ in 0..=rng.below(2) {
        word.push_str(rng.pick::<&str>(&STARTS));
        word.push_str(rng.pick::<&str>(&MIDDLES));
    }
    word.push_str(rng.pick::<&str>(&STARTS));
    word.push_str(rng.pick::<&str>(&MIDDLES));
    if rng.chance(0.6) {
        word.push_str(rng.pick::<&str>(ends));
    }
    word
}

fn chinese(rng: &mut Rng) -> String {
    let rare: Vec<char> = CHINESE_RARE.chars().collect();
    let common: Vec<char> = CHINESE_COMMON.chars().collect();
    let first = *rng.pick(&rare);
    let second = if rng.chance(0.5) {
        *rng.pick(&rare)
    } else {
        *rng.pick(&common)
    };
    [first, second].iter().collect()
}

/// A name of two or three parts (three characters or more in Chinese).
pub(super) fn name(tongue: Tongue, rng: &mut Rng) -> String {
    if tongue == Tongue::Chinese {
        return format!("{}{}", chinese(rng), chinese(rng));
    }
    let part = |rng: &mut Rng| {
        let word = made_up(rng, &["a", "o", "es", "in", "ar", "el"]);
        let mut letters = word.chars();
        letters
            .next()
            .map(|first| first.to_uppercase().chain(letters).collect::<String>())
            .unwrap_or_default()
    };
    let connector = match tongue {
        Tongue::Portuguese if rng.chance(0.2) => " da ",
        Tongue::English if rng.chance(0.1) => " of ",
        _ => " ",
    };
    format!("{}{connector}{}", part(rng), part(rng))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_follow_zipf() {
        let words = Words::new(Tongue::English, 20_000, 1);
        let mut rng = Rng::new(1);
        let drawn: Vec<&str> = (0..10_000).map(|_| words.draw(&mut rng)).collect();
        let count = |word: &str| drawn.iter().filter(|w| **w == word).count();
        assert!((250..600).contains(&count("the")), "{}", count("the"));
        assert!(count("the") > count("with") && count("with") > count("right"));
        let distinct: std::collections::HashSet<_> = drawn.iter().collect();
        assert!(distinct.len() > 2_000, "{}", distinct.len());
    }

    #[test]
    fn names_look_like_names() {
        let mut rng = Rng::new(2);
        for _ in 0..50 {
            let name_en = name(Tongue::English, &mut rng);
            assert!(
                name_en.starts_with(char::is_uppercase) && name_en.contains(' '),
                "{name_en}"
            );
            assert_eq!(name(Tongue::Chinese, &mut rng).chars().count(), 4);
        }
    }
}
