package seed

import "strings"

// name is a name as it is written, and in the plain Latin letters of an e-mail
// address.
type name struct{ text, latin string }

// surname may have a form of its own for women.
type surname struct{ male, female name }

// culture is where names come from, with the ethnicity codes its people give.
type culture struct {
	share         int
	ethnicities   string
	female, male  []name
	surnames      []surname
	middleNames   int // percent who have one
	doubleBarrels int // percent of families
}

// names reads "Łukasz|Lukasz, Anna": each name and, where it needs one, its
// form in Latin letters.
func names(list string) []name {
	var all []name
	for entry := range strings.SplitSeq(list, ",") {
		text, latin, given := strings.Cut(strings.TrimSpace(entry), "|")
		if !given {
			latin = text
		}
		all = append(all, name{text, plain(latin)})
	}
	return all
}

// surnames reads "Kowalski/Kowalska, Nowak": each surname and, where women
// have another, theirs.
func surnames(list string) []surname {
	var all []surname
	for entry := range strings.SplitSeq(list, ",") {
		male, female, differs := strings.Cut(entry, "/")
		s := surname{male: names(male)[0]}
		if s.female = s.male; differs {
			s.female = names(female)[0]
		}
		all = append(all, s)
	}
	return all
}

// plain keeps the letters a to z.
func plain(latin string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' {
			return r
		}
		return -1
	}, strings.ToLower(latin))
}

var cultures = []culture{
	{
		share: 46, ethnicities: "A", middleNames: 60, doubleBarrels: 6,
		female:   names("Abigail, Alice, Beatrice, Charlotte, Chloe, Daisy, Eleanor, Emily, Florence, Freya, Georgia, Grace, Hannah, Harriet, Imogen, Isla, Jessica, Lucy, Matilda, Megan, Olivia, Phoebe, Poppy, Rosie, Ruby, Sophie, Tabitha, Violet, Margaret, Dorothy, Patricia, Susan"),
		male:     names("Adam, Alfie, Archie, Arthur, Benjamin, Callum, Charlie, Daniel, Edward, Finley, Frederick, George, Harry, Henry, Isaac, Jack, Jacob, James, Leo, Lewis, Noah, Oliver, Oscar, Reuben, Samuel, Stanley, Theo, Thomas, William, Kenneth, Raymond, Trevor"),
		surnames: surnames("Appleby, Barraclough, Bickerstaff, Brearley, Broadbent, Butterworth, Cartwright, Clegg, Crabtree, Dalby, Eastwood, Entwistle, Fairclough, Farnsworth, Garside, Greenhalgh, Haigh, Hargreaves, Hebblethwaite, Hepworth, Illingworth, Jagger, Kershaw, Lockwood, Marsden, Micklethwaite, Nettleton, Oldroyd, Pickles, Postlethwaite, Ramsbottom, Ridgway, Satterthwaite, Shackleton, Sowerby, Sutcliffe, Thackray, Thistlewood, Uttley, Wagstaff, Whitworth, Wigglesworth, Smith, Jones, Taylor, Brown"),
	},
	{
		share: 6, ethnicities: "B", middleNames: 40, doubleBarrels: 4,
		female:   names("Aoife, Caoimhe, Ciara, Gráinne|Grainne, Niamh, Orlaith, Róisín|Roisin, Saoirse, Sinéad|Sinead, Siobhán|Siobhan"),
		male:     names("Cillian, Conor, Diarmuid, Eoin, Fionn, Lorcan, Oisín|Oisin, Pádraig|Padraig, Rónán|Ronan, Seán|Sean"),
		surnames: surnames("O'Connor, O'Brien, O'Dowd, Mac Giolla|MacGiolla, McCarthy, Ní Bhriain|NiBhriain, FitzGerald, Gallagher, Kavanagh, Ó Súilleabháin|OSuilleabhain, Quigley, Tierney"),
	},
	{
		share: 5, ethnicities: "A", middleNames: 45, doubleBarrels: 3,
		female:   names("Angharad, Bethan, Cerys, Eilidh, Ffion, Iona, Mairi, Nia, Siân|Sian, Rhiannon"),
		male:     names("Alasdair, Dafydd, Euan, Gethin, Hamish, Iolo, Llew, Ruaridh, Siôn|Sion, Tomos"),
		surnames: surnames("ap Rhys|apRhys, Bevan, Cadwallader, Drummond, Fraser, Gwynne, Llewellyn, MacDonald, McAllister, Prydderch, Strachan, Urquhart"),
	},
	{
		share: 7, ethnicities: "C", middleNames: 15,
		female:   names("Agnieszka, Bożena|Bozena, Elżbieta|Elzbieta, Grażyna|Grazyna, Joanna, Kinga, Małgorzata|Malgorzata, Wiesława|Wieslawa, Zofia, Żaneta|Zaneta"),
		male:     names("Bartłomiej|Bartlomiej, Grzegorz, Jakub, Łukasz|Lukasz, Mateusz, Michał|Michal, Paweł|Pawel, Przemysław|Przemyslaw, Stanisław|Stanislaw, Wojciech"),
		surnames: surnames("Brzęczyszczykiewicz|Brzeczyszczykiewicz, Dąbrowski|Dabrowski/Dąbrowska|Dabrowska, Gajewski/Gajewska, Kowalczyk, Łapiński|Lapinski/Łapińska|Lapinska, Majchrzak, Nowak, Sikora, Świątek|Swiatek, Wójcik|Wojcik, Zając|Zajac, Żurawski|Zurawski/Żurawska|Zurawska"),
	},
	{
		share: 4, ethnicities: "S", middleNames: 70,
		female:   names("Bích|Bich, Diễm|Diem, Hồng|Hong, Hương|Huong, Lan, Linh, Ngọc|Ngoc, Phượng|Phuong, Thảo|Thao, Tuyết|Tuyet"),
		male:     names("Bảo|Bao, Cường|Cuong, Dũng|Dung, Đức|Duc, Hiếu|Hieu, Khánh|Khanh, Long, Quân|Quan, Tuấn|Tuan, Việt|Viet"),
		surnames: surnames("Nguyễn|Nguyen, Trần|Tran, Lê|Le, Phạm|Pham, Hoàng|Hoang, Võ|Vo, Đặng|Dang, Bùi|Bui, Đỗ|Do"),
	},
	{
		share: 4, ethnicities: "C", middleNames: 20, doubleBarrels: 5,
		female:   names("Annegret, Bärbel|Baerbel, Greta, Heike, Jördis|Joerdis, Käthe|Kaethe, Lotte, Ulrike"),
		male:     names("Björn|Bjoern, Detlef, Götz|Goetz, Jörg|Joerg, Jürgen|Juergen, Matthias, Uwe, Wolfgang"),
		surnames: surnames("Müller|Mueller, Schröder|Schroeder, Weiß|Weiss, Krüger|Krueger, Jäger|Jaeger, Vögele|Voegele, von der Heide|vonderHeide, Großmann|Grossmann, Böhm|Boehm"),
	},
	{
		share: 3, ethnicities: "C", middleNames: 5,
		female:   names("Ελένη|Eleni, Κατερίνα|Katerina, Σοφία|Sofia, Δέσποινα|Despina, Ιωάννα|Ioanna, Χρυσούλα|Chrysoula"),
		male:     names("Γιώργος|Giorgos, Δημήτρης|Dimitris, Κώστας|Kostas, Νίκος|Nikos, Σπύρος|Spyros, Ανδρέας|Andreas"),
		surnames: surnames("Παπαδόπουλος|Papadopoulos/Παπαδοπούλου|Papadopoulou, Οικονόμου|Oikonomou, Αγγελίδης|Angelidis/Αγγελίδη|Angelidi, Λαμπράκης|Lambrakis/Λαμπράκη|Lambraki, Μαυρίδης|Mavridis/Μαυρίδου|Mavridou"),
	},
	{
		share: 4, ethnicities: "R",
		female:   names("芳|Fang, 秀英|Xiuying, 敏|Min, 静|Jing, 丽|Li, 艳|Yan"),
		male:     names("伟|Wei, 强|Qiang, 磊|Lei, 洋|Yang, 勇|Yong, 杰|Jie"),
		surnames: surnames("李|Li, 王|Wang, 张|Zhang, 刘|Liu, 陈|Chen, 杨|Yang, 欧阳|Ouyang"),
	},
	{
		share: 4, ethnicities: "C", middleNames: 5,
		female:   names("Олена|Olena, Оксана|Oksana, Наталія|Nataliia, Ірина|Iryna, Юлія|Yuliia, Ганна|Hanna"),
		male:     names("Андрій|Andrii, Богдан|Bohdan, Василь|Vasyl, Ігор|Ihor, Олексій|Oleksii, Тарас|Taras"),
		surnames: surnames("Шевченко|Shevchenko, Коваленко|Kovalenko, Бондар|Bondar, Гнатюк|Hnatiuk, Ясинський|Yasynskyi/Ясинська|Yasynska, Лисенко|Lysenko, Щербак|Shcherbak"),
	},
	{
		share: 5, ethnicities: "NPS", middleNames: 10,
		female:   names("Aïcha|Aicha, Fatoumata, Khadîdja|Khadidja, Leïla|Leila, Maïmouna|Maimouna, Noémie|Noemie, Zaïnab|Zainab"),
		male:     names("Amadou, Chérif|Cherif, Idrissa, Moïse|Moise, Ousmane, Raphaël|Raphael, Yacine"),
		surnames: surnames("Ben Amar|BenAmar, Cissé|Cisse, Diallo, El Fassi|ElFassi, N'Diaye|NDiaye, Traoré|Traore, Touré|Toure"),
	},
	{
		share: 6, ethnicities: "HJKL", middleNames: 15, doubleBarrels: 1,
		female:   names("Aaliyah, Anjali, Deepika, Fatima, Kavita, Mehreen, Nasreen, Parveen, Priya, Sunita"),
		male:     names("Arjun, Bilal, Devendra, Faisal, Gurpreet, Imran, Manoj, Rajesh, Tariq, Vikram"),
		surnames: surnames("Ahmed, Bhattacharya, Chaudhry, Desai, Gill, Hussain, Iyer, Khan, Mukherjee, Patel, Rahman, Singh/Kaur"),
	},
	{
		share: 4, ethnicities: "NM", middleNames: 30, doubleBarrels: 3,
		female:   names("Adaeze, Chidinma, Folasade, Ìfẹ́|Ife, Ngozi, Ọlábísí|Olabisi, Temitope, Yewande"),
		male:     names("Babatunde, Chukwuemeka, Dàmilọ́lá|Damilola, Emeka, Kwabena, Kofi, Obinna, Olúṣẹ́gun|Olusegun"),
		surnames: surnames("Achebe, Adeyemi, Agyemang, Boateng, Eze, Okafor, Okonkwo, Ọláwálé|Olawale, Onyekachi"),
	},
	{
		share: 3, ethnicities: "CS", middleNames: 15, doubleBarrels: 60,
		female:   names("Begoña|Begona, Inês|Ines, Lucía|Lucia, Nuria, Rocío|Rocio, Conceição|Conceicao"),
		male:     names("Álvaro|Alvaro, Íñigo|Inigo, João|Joao, Joaquín|Joaquin, Martín|Martin, Nuño|Nuno"),
		surnames: surnames("Ibáñez|Ibanez, Núñez|Nunez, Peña|Pena, Gonçalves|Goncalves, Araújo|Araujo, Zúñiga|Zuniga, Magalhães|Magalhaes"),
	},
	{
		share: 2, ethnicities: "ZS",
		female:   names("سارة|Sara, مريم|Maryam, نور|Nour, ليلى|Layla"),
		male:     names("أحمد|Ahmad, خالد|Khalid, يوسف|Yusuf, سامر|Samer"),
		surnames: surnames("الحسن|AlHassan, منصور|Mansour, حداد|Haddad, خوري|Khoury"),
	},
	{
		share: 1, ethnicities: "CS",
		female:   names("ליאורה|Liora, תמר|Tamar, נועה|Noa"),
		male:     names("נועם|Noam, איתן|Eitan, אורי|Uri"),
		surnames: surnames("שפירא|Shapira, לוי|Levi, ברק|Barak"),
	},
	{
		share: 2, ethnicities: "CZ", middleNames: 20,
		female:   names("Åse|Aase, Guðrún|Gudrun, Þóra|Thora, Māra|Mara, Çiğdem|Cigdem, Šárka|Sarka"),
		male:     names("Øystein|Oystein, Þorvaldur|Thorvaldur, Jānis|Janis, İbrahim|Ibrahim, Jiří|Jiri, Dušan|Dusan"),
		surnames: surnames("Sørensen|Sorensen, Ægisson|Aegisson/Ægisdóttir|Aegisdottir, Bērziņš|Berzins/Bērziņa|Berzina, Şahin|Sahin, Dvořák|Dvorak/Dvořáková|Dvorakova, Đorđević|Djordjevic"),
	},
}

// cultureShares are the weights of the cultures.
var cultureShares = func() (shares []int) {
	for _, c := range cultures {
		shares = append(shares, c.share)
	}
	return shares
}()
