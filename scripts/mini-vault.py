#!/usr/bin/env python3
"""Writes the mini-vault that `malha eval ablation` searches: linked notes in three languages and questions to them.

The texts are our own and so are the people in them, who do not exist. Rules make the links: a theme links to its
notes, which say in other words what it is about; people, projects, tools and meetings link to each other.

    scripts/mini-vault.py crates/evaluation/data/mini_vault
"""

import json
import sys
from pathlib import Path

# Each theme: title, text, three notes that belong to it (title, text), two questions that share few words with them.
THEMES = {
    "en": [
        ("Keeping instruments dry", "Salt water ends most of our instruments. What we learned is in the notes below.",
         [("Gel in the housing", "A pouch of silica inside the case drinks what condenses overnight. Change the pouch when it turns pink."),
          ("Grease on every ring", "A thin film of silicone on the gasket before closing; never dry, never twice without wiping the groove."),
          ("The bucket test", "Sink the closed case in a bucket for an hour and look for bubbles before it goes to sea.")],
         ["protecting electronics against moisture", "how do we stop leaks in sensor cases"]),
        ("Working with volunteers", "Half of our counts are made by people who come on Saturdays.",
         [("One task a morning", "Newcomers count one species only. Whoever counts two, counts neither well."),
          ("Tea before data sheets", "Begin with a warm drink and names. Those who were greeted come back."),
          ("Send the chart home", "Within a week everyone gets the curve that their own numbers made.")],
         ["how to motivate helpers from the village", "ways of keeping unpaid observers engaged"]),
        ("Saving battery", "A station that dies in January cannot be reached before April.",
         [("Sleep between samples", "The logger wakes for two seconds in every ten minutes; the rest is deep sleep."),
          ("Send by night only", "The radio is the hungriest part. One burst after midnight is enough."),
          ("Cold cells lie", "Below zero the voltage reads low although charge is left. Insulate with cork.")],
         ["making a logger last through winter", "lowering the power use of remote stations"]),
        ("Reading old logbooks", "The harbour kept books since 1870. They are our longest series.",
         [("Fathoms and feet", "Depths before 1921 are in fathoms, one of which is 1.83 metres, and rounded to halves."),
          ("The two clerks", "Two hands wrote the columns. The later one writes sevens like ones."),
          ("Missing Sundays", "No entries were made on holy days; gaps of one day are no storms.")],
         ["pitfalls of historical records from the harbour", "how to digitise nineteenth century observations"]),
        ("Mooring a buoy", "A buoy that wanders is worse than none.",
         [("Three times the depth", "The line is three times as long as the water is deep, or the weight lifts at spring tide."),
          ("A chain at both ends", "Rope rubs through on rock. The first and last five metres are chain."),
          ("Mark it twice", "A flag by day and a reflector by night, or a trawler takes it home.")],
         ["anchoring floating equipment safely", "why does our float drift away"]),
        ("Talking to fishermen", "They know the bay better than our charts do.",
         [("Go at dusk", "Nobody has time in the morning. When nets are mended there is talk."),
          ("Bring the map, not the form", "Ask where, with a finger on paper. Forms close mouths."),
          ("Say what it is for", "Who hears that quotas do not follow from it speaks freely.")],
         ["interviewing people who work at sea", "collecting local knowledge without questionnaires"]),
        ("Checking the numbers", "Every figure passes three gates before it is published.",
         [("Twins disagree", "Two thermometers side by side. When they part by half a degree, one goes home."),
          ("The impossible jump", "No tide rises a metre in a minute. Such steps are struck out and listed."),
          ("A second pair of eyes", "Whoever took the sample does not release it.")],
         ["quality control of measurements", "finding errors before data are released"]),
        ("Winter in the field", "Most accidents happened between November and February.",
         [("Never alone on ice", "Two walk, one rope, ten metres apart."),
          ("The hour before dark", "Whatever is unfinished then stays unfinished."),
          ("Spare gloves in the dry bag", "Wet hands drop tools, and then themselves.")],
         ["safety rules for cold season trips", "avoiding injuries on frozen shores"]),
    ],
    "pt": [
        ("Guardar sementes", "Sem sementes próprias, cada ano começa na loja. O que aprendemos está nas notas.",
         [("Frascos com cinza", "Um dedo de cinza no fundo do frasco bebe a umidade e afasta o gorgulho."),
          ("A planta mais bonita fica", "Não se come a melhor alface: ela floresce e dá a próxima geração."),
          ("Data e canteiro no rótulo", "Um frasco sem ano e sem lugar não vale a terra em que cai.")],
         ["como conservar grãos de um ano para o outro", "escolher exemplares para reprodução"]),
        ("Regar pouco", "O poço seca em agosto. Cada balde conta.",
         [("Potes de barro enterrados", "O pote sem esmalte sua devagar e a raiz procura por ele."),
          ("Palha sobre tudo", "Dez centímetros de cobertura e a terra fica fresca até o meio-dia."),
          ("Só depois do pôr do sol", "O que se deita de dia sobe para o céu antes de descer.")],
         ["economizar água na horta", "irrigação em tempo de seca"]),
        ("Conviver com formigas", "Elas estavam aqui antes de nós.",
         [("Casca de laranja moída", "Espalhada no carreiro, confunde o rastro por uma semana."),
          ("Um canteiro para elas", "Folhas de que gostam, plantadas longe, custam menos do que a guerra."),
          ("Borra de café no pé", "Um anel de borra em volta do tronco, renovado a cada chuva.")],
         ["controle de insetos sem veneno", "proteger mudas contra pragas"]),
        ("Terra viva", "O solo cansado não responde a adubo.",
         [("Três pilhas, três meses", "Uma pilha recebe, outra descansa, a terceira se usa."),
          ("Minhocas em caixa", "Uma caixa à sombra, restos sem sal nem gordura, e o chá que escorre."),
          ("Feijão entre safras", "As raízes dele deixam nitrogênio onde nada mais deixa.")],
         ["recuperar fertilidade sem química", "fazer composto em casa"]),
        ("Vender na praça", "A feira paga as contas da associação.",
         [("Preço inteiro", "Nada de centavos: o troco leva mais tempo do que a conversa."),
          ("A banca cheia até o fim", "Mesa vazia espanta; juntar o que resta no meio."),
          ("Receita no pacote", "Quem não conhece a taioba leva se souber o que fazer dela.")],
         ["dicas para comércio direto com os clientes", "como atrair compradores para os legumes"]),
        ("Decidir em roda", "Quinze famílias, uma só bomba de água.",
         [("O bastão que fala", "Quem tem o bastão fala; os outros anotam."),
          ("Dormir sobre o assunto", "O que pesa não se resolve na mesma noite."),
          ("Ata na parede", "Três linhas, grandes, onde todos passam.")],
         ["reuniões sem briga", "chegar a um acordo entre vizinhos"]),
        ("Crianças na horta", "A escola vem às quartas.",
         [("Ferramenta do tamanho da mão", "Enxada curta, luva pequena, carrinho de meio balde."),
          ("Plantar o que cresce depressa", "Rabanete em três semanas; paciência se aprende depois."),
          ("Desenhar antes de colher", "Quem desenhou a folha sabe qual é a erva.")],
         ["atividades pedagógicas ao ar livre", "ensinar alunos a cultivar"]),
        ("Chuva demais", "Em janeiro o problema é o contrário.",
         [("Valas em curva", "A vala segue a altura do terreno e solta devagar."),
          ("Canteiro alto", "Trinta centímetros acima do caminho e a raiz respira."),
          ("Capim no barranco", "Vetiver em fila segura o que a enxurrada levaria.")],
         ["evitar erosão e encharcamento", "preparar o terreno para temporais"]),
    ],
    "zh": [
        ("修补旧书", "馆里的旧书一年比一年脆。做法都记在下面的笔记里。",
         [("糨糊要现煮", "小麦淀粉加水慢煮，放凉再用；隔夜的会发酸。"),
          ("薄纸先湿边", "补洞的皮纸撕出毛边，用笔蘸水，再贴上去就看不出接缝。"),
          ("压板三天", "两块木板夹住，石头压三天，急不得。")],
         ["怎样让破损的古籍恢复原样", "纸张修复的步骤"]),
        ("防潮", "江南的梅雨是书的敌人。",
         [("樟木箱垫石灰", "箱底铺一层石灰包，十天换一次。"),
          ("雨天不开窗", "外面比里面湿的时候，窗子关着。"),
          ("湿度计放在最下层", "潮气从地面上来，最低一格先坏。")],
         ["梅雨季节如何保护藏品", "控制库房里的水汽"]),
        ("教孩子拓印", "周六下午有二十个小学生。",
         [("先拓树叶", "叶脉凸起，墨一拍就出来，孩子马上高兴。"),
          ("墨要少", "拍包在废纸上打三下，再碰宣纸。"),
          ("名字写在背面", "晾干以后谁的都像谁的。")],
         ["适合小朋友的手工课", "给学生上传统工艺课的经验"]),
        ("整理口述史", "老人讲的比档案里多。",
         [("两支录音笔", "一支会没电，一支会忘按。"),
          ("先问吃饭", "从小时候吃什么讲起，话就长了。"),
          ("方言照写", "听不准的字用同音字加方框，不要改成普通话。")],
         ["采访年长者的方法", "记录长辈回忆时要注意什么"]),
        ("省钱办展", "一年只有两次经费。",
         [("借展板", "隔壁中学放假时展板都空着。"),
          ("灯比墙重要", "一盏好灯照一件东西，胜过满墙图片。"),
          ("说明牌不过五十字", "站着的人不读第二段。")],
         ["低成本策划陈列", "预算不够怎么布置展厅"]),
        ("给照片定年代", "三千张老照片没有日期。",
         [("看电线杆", "水泥杆一九五八年以后才有。"),
          ("相纸的花边", "锯齿边多半是六十年代。"),
          ("招牌上的字", "简体字招牌不会早于一九五六。")],
         ["判断旧影像拍摄时间的线索", "如何推断没有标注的老图片属于哪一年"]),
        ("河上的船", "本地的船分三种。",
         [("乌篷看篷", "篷黑的载人，篷白的载货。"),
          ("橹的长短", "橹长的走深水，短的走巷子里的小河。"),
          ("船头画眼", "左眼大的是渔家，两眼一样大的是米商。")],
         ["怎样分辨水乡的各种舟", "传统水上交通工具的特征"]),
        ("请人捐东西", "馆里一半的藏品来自街坊。",
         [("先借后捐", "说借一年，多半就不要回去了。"),
          ("写清来历", "谁家的，哪间屋里，什么时候还在用。"),
          ("开幕请坐第一排", "捐的人坐在前面，下次邻居也会来。")],
         ["征集民间物品的技巧", "让居民愿意把老物件交给博物馆"]),
    ],
}

# People: name, what they do, where they live. Tools: name, text. Projects: name, aim, leader, tool, theme (places in
# the lists).
PEOPLE = {
    "en": [("Marta Lindqvist", "hydrographer", "Port Ellan"), ("Owen Rask", "electronics engineer", "Skerry Hill"),
           ("Priya Delorme", "biologist", "Port Ellan"), ("Tomas Averell", "boat master", "Low Quay"),
           ("Ingrid Salvo", "statistician", "Marram"), ("Felix Obando", "archivist", "Low Quay"),
           ("Noor Castellan", "radio operator", "Skerry Hill"), ("Hugh Pendry", "diver", "Marram"),
           ("Wanda Iselin", "teacher", "Port Ellan"), ("Kofi Brandt", "carpenter", "Cold Spit"),
           ("Lena Orsolo", "cartographer", "Cold Spit"), ("Samir Holloway", "cook and driver", "Marram")],
    "pt": [("Benedita Arruda", "agrônoma", "Vila Serena"), ("Caio Montalvão", "marceneiro", "Ponte Nova"),
           ("Dalva Siqueira", "professora", "Vila Serena"), ("Estevão Prado", "apicultor", "Brejo Alto"),
           ("Firmina Lobato", "contadora", "Ponte Nova"), ("Gaspar Veloso", "pedreiro", "Brejo Alto"),
           ("Helena Tavora", "cozinheira", "Vila Serena"), ("Iracema Duarte", "botânica", "Campo Limpo"),
           ("Jonas Peixoto", "motorista", "Campo Limpo"), ("Lívia Sarmento", "fotógrafa", "Ponte Nova"),
           ("Mateus Falcão", "eletricista", "Brejo Alto"), ("Núbia Carvalhal", "parteira", "Campo Limpo")],
    "zh": [("顾望舒", "修书师傅", "柳桥"), ("沈怀谷", "馆长", "东浦"), ("陆晚晴", "小学老师", "柳桥"),
           ("何砚秋", "摄影师", "石门"), ("钱守拙", "木匠", "东浦"), ("罗青禾", "历史系学生", "石门"),
           ("曹问渠", "船工", "柳桥"), ("孟知微", "会计", "双井"), ("白露生", "志愿者", "双井"),
           ("戴云岫", "书法家", "石门"), ("范听雨", "电台记者", "东浦"), ("冯若谷", "电工", "双井")],
}
TOOLS = {
    "en": [("TideClock", "Predicts high water from three constants; runs on a pocket calculator."),
           ("gull_count", "Counts white shapes on a photograph of a cliff."),
           ("SaltLine", "Draws where fresh and salt water meet."), ("Harrow", "Cleans a series of jumps and gaps."),
           ("KelpMap", "Outlines weed beds from kite pictures."), ("log_reader", "Turns a scanned ledger page into rows."),
           ("Nightcall", "Sends a station's day in one short message."), ("Plumb", "Keeps the depths of all moorings.")],
    "pt": [("SementeBase", "Guarda o que germinou, quando e onde."), ("regador_lunar", "Lembra a hora de regar pela lua e pela chuva."),
           ("Feirinha", "Soma a banca e divide por família."), ("MapaDeCanteiros", "Desenha quem planta o quê em cada faixa."),
           ("Colmeia", "Pesa as caixas de abelha e avisa do enxame."), ("ata_curta", "Faz de uma gravação três linhas."),
           ("Nivela", "Mede a altura do terreno com uma mangueira."), ("Quitanda", "Recebe encomendas da vizinhança.")],
    "zh": [("书虫通", "登记每一本书的破损和修补。"), ("潮信", "每小时读一次湿度，超过就响铃。"), ("PhotoYear", "按线索给照片排年份。"),
           ("tape_log", "给录音分段，并写下谁在说话。"), ("展签机", "把说明缩到五十字以内。"), ("船谱", "收录各种船的图和尺寸。"),
           ("DonorBook", "记捐赠人和物件的来历。"), ("灯位图", "画出每盏灯照到哪里。")],
}
PROJECTS = {
    "en": [("Bay Curve", "a hundred and fifty years of water level in one series", 0, 0, 3),
           ("Quiet Cliff", "how many birds nest above the quarry", 2, 1, 1), ("Brackish Edge", "where the river ends", 4, 2, 6),
           ("Clean Series", "every old measurement checked once", 4, 3, 6), ("Green Shallows", "whether the weed comes back", 2, 4, 4),
           ("Ink and Water", "the harbour's ledgers as tables", 5, 5, 3), ("Winter Voice", "stations that speak until spring", 6, 6, 2),
           ("Deep Marks", "no mooring lost any more", 7, 7, 4), ("School on the Shore", "children who read a tide table", 8, 0, 1),
           ("Dry Box", "a case that lasts five years", 1, 7, 0), ("Old Nets", "what fishermen remember", 10, 4, 5),
           ("Ice Path", "a safe way to the outer station", 3, 6, 7)],
    "pt": [("Celeiro Comum", "sementes para quinze famílias", 0, 0, 0), ("Gota Certa", "a horta com metade da água", 7, 1, 1),
           ("Praça Cheia", "a feira que se paga", 4, 2, 4), ("Faixas da Encosta", "terra que não desce com a chuva", 5, 6, 7),
           ("Mel do Brejo", "vinte caixas de abelha", 3, 4, 2), ("Roda Aberta", "decisões que duram", 2, 5, 5),
           ("Quarta na Terra", "a escola na horta", 2, 3, 6), ("Chão Novo", "três anos para refazer o solo", 0, 3, 3),
           ("Cesta da Semana", "legumes em casa às sextas", 6, 7, 4), ("Trilha das Folhas", "todas as plantas com nome", 7, 0, 6),
           ("Luz no Galpão", "energia do sol para a bomba", 10, 1, 1), ("Retratos da Colheita", "um livro de fotografias", 9, 7, 5)],
    "zh": [("百册计划", "三年修好一百本", 0, 0, 0), ("干爽库房", "梅雨天也不发霉", 11, 1, 1), ("旧影寻年", "给三千张照片找到日期", 3, 2, 5),
           ("乡音", "记下最后一代船工的话", 10, 3, 3), ("小展大灯", "用一半的钱办展", 1, 4, 4), ("水上图谱", "画下每一种船", 6, 5, 6),
           ("街坊之物", "每家捐一件", 8, 6, 7), ("点灯", "展厅重新布光", 11, 7, 4), ("周六拓坊", "孩子的手工课", 2, 4, 2),
           ("匾额", "读出全城的老招牌", 9, 2, 5), ("木作", "修好三条旧船", 4, 5, 6), ("账本里的街", "从旧账看物价", 7, 0, 3)],
}
# What meetings settled: each once, with a number that the question asks for.
FACTS = {
    "en": [("The spare anchor weighs {n} kilograms.", "how heavy is the spare anchor of {p}"),
           ("The next count starts at {n} minutes past five.", "at how many minutes past five does the next count of {p} start"),
           ("The budget for rope is {n} crowns.", "what may be spent on rope in {p}")],
    "pt": [("O galpão recebe {n} telhas novas.", "quantas telhas novas recebe o galpão no {p}"),
           ("A próxima entrega leva {n} cestas.", "quantas cestas leva a próxima entrega do {p}"),
           ("A mangueira terá {n} metros.", "qual será o comprimento da mangueira no {p}")],
    "zh": [("新买的皮纸一共{n}张。", "{p}新买了多少张皮纸"), ("下一次开箱定在{n}天以后。", "{p}下一次开箱在多少天以后"),
           ("修屋顶的钱是{n}元。", "{p}修屋顶的钱有多少")],
}
WORDS = {
    "en": dict(person="{name}, {role}, lives in {place}. Leads or helps with {projects}. Ask about {theme}.",
               tool="{text} Used in {projects}.", project="Aim: {aim}. Leader: {leader}. Tool: {tool}. See also {theme}.",
               meeting="{a} and {b} met about {project}. {fact} Next time {b} brings {tool}.", title="Meeting {n}, {project}",
               name_q=["{x}", "who is {x}", "what is {x}"], join=" and ",
               home="in which town does the leader of {project} live", lead="what does the tool do that {person} works with in {project}",
               who="what is the profession of the person who leads the project with the tool {tool}"),
    "pt": dict(person="{name} é {role} e mora em {place}. Cuida de {projects}. Sabe muito sobre {theme}.",
               tool="{text} Usado em {projects}.", project="Meta: {aim}. Quem cuida: {leader}. Ferramenta: {tool}. Ver também {theme}.",
               meeting="{a} e {b} conversaram sobre {project}. {fact} Da próxima vez {b} traz {tool}.", title="Conversa {n}, {project}",
               name_q=["{x}", "quem é {x}", "o que é {x}"], join=" e ",
               home="em que lugar mora quem cuida do projeto {project}", lead="o que faz a ferramenta que {person} usa no {project}",
               who="qual é a profissão de quem cuida do projeto que usa {tool}"),
    "zh": dict(person="{name}是{role}，住在{place}。负责或帮忙：{projects}。熟悉{theme}。",
               tool="{text}用在{projects}。", project="目标：{aim}。负责人：{leader}。工具：{tool}。参见{theme}。",
               meeting="{a}和{b}商量了{project}。{fact}下次{b}带上{tool}。", title="第{n}次碰头：{project}",
               name_q=["{x}", "{x}是谁", "{x}是什么"], join="、",
               home="{project}的负责人住在哪里", lead="{person}在{project}里用的工具是做什么的", who="用{tool}的项目，负责人是什么职业"),
}
MEETINGS = 36
QUESTIONS = {"en": dict(topic=16, name=17, relation=17, point=17), "pt": dict(topic=16, name=17, relation=17, point=17),
             "zh": dict(topic=16, name=17, relation=17, point=16)}


def link(title):
    return f"[[{title}]]"


def make(language):
    """Notes as (title, text), questions as (class, question, gold titles)."""
    words, people, tools, projects = WORDS[language], PEOPLE[language], TOOLS[language], PROJECTS[language]
    themes = THEMES[language]
    notes, asked = [], dict(topic=[], name=[], relation=[], point=[])
    for title, text, parts, questions in themes:
        notes.append((title, text + "\n\n" + "\n".join(f"- {link(part)}" for part, _ in parts)))
        notes.extend(parts)
        for question in questions:
            asked["topic"].append((question, [title] + [part for part, _ in parts]))
    for n, (name, role, place) in enumerate(people):
        own = [p[0] for p in projects if p[2] == n] + [projects[(n * 5 + 3) % len(projects)][0]]
        own = words["join"].join(link(p) for p in dict.fromkeys(own))
        theme = link(themes[n % len(themes)][0])
        notes.append((name, words["person"].format(name=name, role=role, place=place, projects=own, theme=theme)))
        asked["name"].append((words["name_q"][n % 2].format(x=name), [name]))
    for n, (name, text) in enumerate(tools):
        used = words["join"].join(link(p[0]) for p in projects if p[3] == n)
        notes.append((name, words["tool"].format(text=text, projects=used)))
        asked["name"].append((words["name_q"][(0, 2)[n % 2]].format(x=name), [name]))
    for n, (name, aim, leader, tool, theme) in enumerate(projects):
        notes.append((name, words["project"].format(aim=aim, leader=link(people[leader][0]), tool=link(tools[tool][0]),
                                                    theme=link(themes[theme][0]))))
        asked["relation"].append((words["home"].format(project=name), [name, people[leader][0]]))
        if n % 2:
            question = words["lead"].format(person=people[leader][0], project=name)
            asked["relation"].append((question, [name, tools[tool][0]]))
        if sum(p[3] == tool for p in projects) == 1:
            asked["relation"].append((words["who"].format(tool=tools[tool][0]), [name, people[leader][0]]))
    for n in range(MEETINGS):
        project = projects[n % len(projects)]
        # Every fact of a project is told once.
        fact, question = FACTS[language][n // len(projects)]
        a, b = people[project[2]][0], people[(project[2] + 1 + n) % len(people)][0]
        title = words["title"].format(n=n + 1, project=project[0])
        notes.append((title, words["meeting"].format(a=link(a), b=link(b), project=link(project[0]),
                                                     fact=fact.format(n=17 + 7 * n), tool=link(tools[(n * 3) % len(tools)][0]))))
        asked["point"].append((question.format(p=project[0]), [title]))
    questions = []
    for kind, count in QUESTIONS[language].items():
        # Spread over all that could be asked.
        pool = asked[kind]
        chosen = [pool[n * len(pool) // count] for n in range(count)] if len(pool) >= count else pool
        assert len(chosen) == count, (language, kind, len(pool))
        questions.extend((kind, question, gold) for question, gold in chosen)
    assert len({title for title, _ in notes}) == len(notes)
    return notes, questions


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    notes, questions = [], []
    for language in ("en", "pt", "zh"):
        path = lambda title: f"{language}/{title}.md"
        made, asked = make(language)
        notes += [{"id": path(title), "title": title, "text": text} for title, text in made]
        for kind, question, gold in asked:
            row = {"qid": f"{language}-{kind}-{len(questions)}", "question": question, "gold": [path(g) for g in gold],
                   "class": kind, "language": language}
            questions.append(row)
    for name, rows in (("notes", notes), ("questions", questions)):
        lines = (json.dumps(row, ensure_ascii=False) for row in rows)
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(len(notes), "notes,", len(questions), "questions")


if __name__ == "__main__":
    main()
