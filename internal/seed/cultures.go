package seed

import (
	"slices"
	"sync"
)

// cultures are built on first use, because a server never needs them.
var cultures = sync.OnceValue(func() []culture {
	return []culture{
		{
			share: 46, ethnicities: "A", middleNames: 60, doubleBarrels: 6,
			female:   names("Abigail, Alice, Beatrice, Charlotte, Chloe, Daisy, Eleanor, Emily, Florence, Freya, Georgia, Grace, Hannah, Harriet, Imogen, Isla, Jessica, Lucy, Matilda, Megan, Olivia, Phoebe, Poppy, Rosie, Ruby, Sophie, Tabitha, Violet, Margaret, Dorothy, Patricia, Susan, Agatha, Amelia, Annabel, Barbara, Bethany, Bridget, Carol, Clara, Constance, Cordelia, Edith, Elizabeth, Esme, Evelyn, Fiona, Gemma, Gillian, Heather, Hilary, Iris, Ivy, Jacqueline, Janet, Joan, Judith, Katherine, Laura, Lydia, Marjorie, Molly, Nora, Penelope, Philippa, Rachel, Rebecca, Sally, Sarah, Shirley, Sylvia, Victoria, Winifred, Zoe"),
			male:     names("Adam, Alfie, Archie, Arthur, Benjamin, Callum, Charlie, Daniel, Edward, Finley, Frederick, George, Harry, Henry, Isaac, Jack, Jacob, James, Leo, Lewis, Noah, Oliver, Oscar, Reuben, Samuel, Stanley, Theo, Thomas, William, Kenneth, Raymond, Trevor, Alan, Albert, Alexander, Andrew, Anthony, Barnaby, Brian, Christopher, Clive, Colin, David, Dennis, Dominic, Douglas, Elliot, Ernest, Felix, Francis, Gareth, Geoffrey, Giles, Gordon, Graham, Harvey, Hugo, Jasper, Joseph, Keith, Leonard, Louis, Martin, Matthew, Nicholas, Norman, Patrick, Percy, Robert, Roger, Rupert, Simon, Stuart, Toby"),
			surnames: slices.Concat(slices.Repeat(surnames("Appleby, Barraclough, Bickerstaff, Brearley, Broadbent, Butterworth, Cartwright, Clegg, Crabtree, Dalby, Eastwood, Entwistle, Fairclough, Farnsworth, Garside, Greenhalgh, Haigh, Hargreaves, Hebblethwaite, Hepworth, Illingworth, Jagger, Kershaw, Lockwood, Marsden, Micklethwaite, Nettleton, Oldroyd, Pickles, Postlethwaite, Ramsbottom, Ridgway, Satterthwaite, Shackleton, Sowerby, Sutcliffe, Thackray, Thistlewood, Uttley, Wagstaff, Whitworth, Wigglesworth, Smith, Jones, Taylor, Brown"), 15), ofPlaces()),
		},
		{
			share: 6, ethnicities: "B", middleNames: 40, doubleBarrels: 4,
			female:   names("Aoife, Caoimhe, Ciara, Gráinne|Grainne, Niamh, Orlaith, Róisín|Roisin, Saoirse, Sinéad|Sinead, Siobhán|Siobhan, Aisling, Bernadette, Brigid, Catriona, Clodagh, Deirdre, Eileen, Eimear, Fionnuala, Maeve, Mary, Maura, Nuala, Orla, Sheila, Teresa, Una"),
			male:     names("Cillian, Conor, Diarmuid, Eoin, Fionn, Lorcan, Oisín|Oisin, Pádraig|Padraig, Rónán|Ronan, Seán|Sean, Aidan, Brendan, Cathal, Cormac, Declan, Dermot, Donal, Fergal, Gerard, Kevin, Kieran, Liam, Malachy, Michael, Niall, Rory, Shane"),
			surnames: surnames("O'Connor, O'Brien, O'Dowd, Mac Giolla|MacGiolla, McCarthy, Ní Bhriain|NiBhriain, FitzGerald, Gallagher, Kavanagh, Ó Súilleabháin|OSuilleabhain, Quigley, Tierney, Boyle, Brennan, Byrne, Carroll, Casey, Clancy, Coughlan, Cullen, Delaney, Devlin, Doherty, Donnelly, Doyle, Duffy, Farrell, Flanagan, Flynn, Healy, Hennessy, Higgins, Hogan, Keane, Kearney, Keating, Kinsella, Lynch, Maguire, Mulligan, Murphy, Nolan, Power, Rafferty, Reilly, Rooney, Scanlon, Shanahan, Sheehan, Sweeney, Whelan"),
		},
		{
			share: 5, ethnicities: "A", middleNames: 45, doubleBarrels: 3,
			female:   names("Angharad, Bethan, Cerys, Eilidh, Ffion, Iona, Mairi, Nia, Siân|Sian, Rhiannon, Ailsa, Alwen, Bronwen, Carys, Catrin, Delyth, Elin, Elspeth, Gwen, Isobel, Kirsty, Lowri, Megan, Morag, Nerys, Rhona, Sioned"),
			male:     names("Alasdair, Dafydd, Euan, Gethin, Hamish, Iolo, Llew, Ruaridh, Siôn|Sion, Tomos, Alun, Angus, Callum, Dewi, Duncan, Emyr, Evan, Fraser, Gareth, Geraint, Gregor, Huw, Ieuan, Lachlan, Malcolm, Owain, Rhodri"),
			surnames: surnames("ap Rhys|apRhys, Bevan, Cadwallader, Drummond, Fraser, Gwynne, Llewellyn, MacDonald, McAllister, Prydderch, Strachan, Urquhart, Abernethy, Bowen, Buchanan, Cameron, Colquhoun, Cunningham, Dalgleish, Davies, Erskine, Evans, Farquhar, Forsyth, Gethin, Griffiths, Gwilym, Hughes, Jenkins, Kinnaird, Lennox, Lewis, Lockhart, Mackenzie, Maclean, Meredith, Morgan, Munro, Ogilvie, Parry, Powell, Pritchard, Probert, Ramsay, Rees, Ross, Sinclair, Tudor, Vaughan, Wallace, Watkin"),
		},
		{
			share: 7, ethnicities: "C", middleNames: 15,
			female:   names("Agnieszka, Bożena|Bozena, Elżbieta|Elzbieta, Grażyna|Grazyna, Joanna, Kinga, Małgorzata|Malgorzata, Wiesława|Wieslawa, Zofia, Żaneta|Zaneta, Agata, Aleksandra, Anna, Barbara, Beata, Danuta, Dorota, Ewa, Hanna, Iwona, Jadwiga, Julia, Katarzyna, Magdalena, Maria, Marta, Monika, Natalia, Paulina, Teresa"),
			male:     names("Bartłomiej|Bartlomiej, Grzegorz, Jakub, Łukasz|Lukasz, Mateusz, Michał|Michal, Paweł|Pawel, Przemysław|Przemyslaw, Stanisław|Stanislaw, Wojciech, Adam, Andrzej, Bogdan, Czesław|Czeslaw, Damian, Dariusz, Filip, Henryk, Jan, Kacper, Kamil, Krzysztof, Leszek, Marcin, Marek, Piotr, Rafał|Rafal, Robert, Szymon, Tomasz"),
			surnames: surnames("Brzęczyszczykiewicz|Brzeczyszczykiewicz, Dąbrowski|Dabrowski/Dąbrowska|Dabrowska, Gajewski/Gajewska, Kowalczyk, Łapiński|Lapinski/Łapińska|Lapinska, Majchrzak, Nowak, Sikora, Świątek|Swiatek, Wójcik|Wojcik, Zając|Zajac, Żurawski|Zurawski/Żurawska|Zurawska, Adamczyk, Baran, Bielecki/Bielecka, Borowski/Borowska, Chmielewski/Chmielewska, Cieślak|Cieslak, Czarnecki/Czarnecka, Domański|Domanski/Domańska|Domanska, Duda, Dziedzic, Głowacki|Glowacki/Głowacka|Glowacka, Górski|Gorski/Górska|Gorska, Jabłoński|Jablonski/Jabłońska|Jablonska, Janik, Jaworski/Jaworska, Kaczmarek, Kania, Kasprzak, Kozłowski|Kozlowski/Kozłowska|Kozlowska, Krajewski/Krajewska, Krupa, Kubiak, Laskowski/Laskowska, Lis, Makowski/Makowska, Marciniak, Mazur, Michalak, Olszewski/Olszewska, Ostrowski/Ostrowska, Pawlak, Pietrzak, Rogowski/Rogowska, Rutkowski/Rutkowska, Sadowski/Sadowska, Sobczak, Stępień|Stepien, Szczepaniak, Tomczyk, Urban, Walczak, Wasilewski/Wasilewska, Wilk, Witkowski/Witkowska, Wrona, Zawadzki/Zawadzka"),
		},
		{
			share: 4, ethnicities: "S", middleNames: 70,
			female:   names("Bích|Bich, Diễm|Diem, Hồng|Hong, Hương|Huong, Lan, Linh, Ngọc|Ngoc, Phượng|Phuong, Thảo|Thao, Tuyết|Tuyet, An, Anh Thư|Anh Thu, Bảo Ngọc|Bao Ngoc, Châu|Chau, Dung, Giang, Hà|Ha, Hạnh|Hanh, Kim Chi, Mai, Mai Anh, Minh Châu|Minh Chau, My, Nga, Nhung, Oanh, Quỳnh|Quynh, Thanh, Thu Hà|Thu Ha, Thủy|Thuy, Trang, Trinh, Uyên|Uyen, Vân|Van, Xuân|Xuan, Yến|Yen"),
			male:     names("Bảo|Bao, Cường|Cuong, Dũng|Dung, Đức|Duc, Hiếu|Hieu, Khánh|Khanh, Long, Quân|Quan, Tuấn|Tuan, Việt|Viet, Anh Tuấn|Anh Tuan, Bình|Binh, Công|Cong, Đạt|Dat, Gia Huy, Hải|Hai, Hoàng Nam|Hoang Nam, Hùng|Hung, Huy, Khôi|Khoi, Kiên|Kien, Lâm|Lam, Minh, Minh Đức|Minh Duc, Nam, Nghĩa|Nghia, Phong, Phúc|Phuc, Quang, Sơn|Son, Tâm|Tam, Thắng|Thang, Thành|Thanh, Trung, Vinh"),
			surnames: surnames("Nguyễn|Nguyen, Trần|Tran, Lê|Le, Phạm|Pham, Hoàng|Hoang, Võ|Vo, Đặng|Dang, Bùi|Bui, Đỗ|Do"),
		},
		{
			share: 4, ethnicities: "C", middleNames: 20, doubleBarrels: 5,
			female:   names("Annegret, Bärbel|Baerbel, Greta, Heike, Jördis|Joerdis, Käthe|Kaethe, Lotte, Ulrike, Anke, Birgit, Christa, Dagmar, Elke, Frieda, Gisela, Hannelore, Ilse, Jutta, Katrin, Liesel, Marlene, Petra, Renate, Sabine, Ursula"),
			male:     names("Björn|Bjoern, Detlef, Götz|Goetz, Jörg|Joerg, Jürgen|Juergen, Matthias, Uwe, Wolfgang, Andreas, Bernd, Dieter, Erich, Florian, Gerhard, Hartmut, Holger, Karsten, Klaus, Lothar, Manfred, Norbert, Rainer, Rolf, Stefan, Thorsten, Volker"),
			surnames: surnames("Müller|Mueller, Schröder|Schroeder, Weiß|Weiss, Krüger|Krueger, Jäger|Jaeger, Vögele|Voegele, von der Heide|vonderHeide, Großmann|Grossmann, Böhm|Boehm, Albrecht, Bachmann, Bauer, Becker, Brandt, Dietrich, Engel, Fischer, Fuchs, Graf, Haas, Hartmann, Heinrich, Hoffmann, Huber, Kaiser, Keller, Klein, Koch, Kuhn, Lang, Lehmann, Lorenz, Maurer, Meier, Neumann, Pfeiffer, Richter, Roth, Sauer, Schmidt, Schneider, Schulz, Seidel, Sommer, Stein, Vogel, Wagner, Weber, Winkler, Zimmermann"),
		},
		{
			share: 3, ethnicities: "C", middleNames: 5,
			female:   names("Ελένη|Eleni, Κατερίνα|Katerina, Σοφία|Sofia, Δέσποινα|Despina, Ιωάννα|Ioanna, Χρυσούλα|Chrysoula, Άννα|Anna, Βασιλική|Vasiliki, Γεωργία|Georgia, Ειρήνη|Eirini, Θεοδώρα|Theodora, Ζωή|Zoi, Μαρία|Maria, Μαρίνα|Marina, Παρασκευή|Paraskevi, Στέλλα|Stella"),
			male:     names("Γιώργος|Giorgos, Δημήτρης|Dimitris, Κώστας|Kostas, Νίκος|Nikos, Σπύρος|Spyros, Ανδρέας|Andreas, Αλέξανδρος|Alexandros, Βασίλης|Vasilis, Γιάννης|Giannis, Ηλίας|Ilias, Θανάσης|Thanasis, Μιχάλης|Michalis, Πέτρος|Petros, Σταύρος|Stavros, Στέλιος|Stelios, Χρήστος|Christos"),
			surnames: surnames("Παπαδόπουλος|Papadopoulos/Παπαδοπούλου|Papadopoulou, Οικονόμου|Oikonomou, Αγγελίδης|Angelidis/Αγγελίδη|Angelidi, Λαμπράκης|Lambrakis/Λαμπράκη|Lambraki, Μαυρίδης|Mavridis/Μαυρίδου|Mavridou, Αλεξίου|Alexiou, Αντωνίου|Antoniou, Βασιλείου|Vasileiou, Γεωργίου|Georgiou, Δημητρίου|Dimitriou, Ιωάννου|Ioannou, Κωνσταντίνου|Konstantinou, Μακρής|Makris/Μακρή|Makri, Νικολάου|Nikolaou, Παππάς|Pappas/Παππά|Pappa, Πετρίδης|Petridis/Πετρίδου|Petridou, Σταυρίδης|Stavridis/Σταυρίδου|Stavridou, Χατζής|Chatzis/Χατζή|Chatzi"),
		},
		{
			share: 4, ethnicities: "R",
			female:   names("芳|Fang, 秀英|Xiuying, 敏|Min, 静|Jing, 丽|Li, 艳|Yan, 娟|Juan, 娜|Na, 晓红|Xiaohong, 桂英|Guiying, 欣怡|Xinyi, 玉兰|Yulan, 玲|Ling, 美玲|Meiling, 雅婷|Yating, 雪|Xue, 霞|Xia, 佳琪|Jiaqi"),
			male:     names("伟|Wei, 强|Qiang, 磊|Lei, 洋|Yang, 勇|Yong, 杰|Jie, 军|Jun, 刚|Gang, 国强|Guoqiang, 子轩|Zixuan, 家豪|Jiahao, 建华|Jianhua, 志明|Zhiming, 明|Ming, 涛|Tao, 浩|Hao, 超|Chao, 鹏|Peng"),
			surnames: surnames("李|Li, 王|Wang, 张|Zhang, 刘|Liu, 陈|Chen, 杨|Yang, 欧阳|Ouyang, 何|He, 冯|Feng, 吴|Wu, 周|Zhou, 孙|Sun, 宋|Song, 徐|Xu, 曾|Zeng, 朱|Zhu, 林|Lin, 梁|Liang, 胡|Hu, 谢|Xie, 赵|Zhao, 邓|Deng, 郑|Zheng, 郭|Guo, 马|Ma, 高|Gao, 黄|Huang, 司马|Sima"),
		},
		{
			share: 4, ethnicities: "C", middleNames: 5,
			female:   names("Олена|Olena, Оксана|Oksana, Наталія|Nataliia, Ірина|Iryna, Юлія|Yuliia, Ганна|Hanna, Анастасія|Anastasiia, Валентина|Valentyna, Вікторія|Viktoriia, Дарина|Daryna, Катерина|Kateryna, Людмила|Liudmyla, Марія|Mariia, Світлана|Svitlana, Софія|Sofiia, Тетяна|Tetiana"),
			male:     names("Андрій|Andrii, Богдан|Bohdan, Василь|Vasyl, Ігор|Ihor, Олексій|Oleksii, Тарас|Taras, Артем|Artem, Віктор|Viktor, Дмитро|Dmytro, Іван|Ivan, Максим|Maksym, Микола|Mykola, Назар|Nazar, Остап|Ostap, Роман|Roman, Сергій|Serhii, Юрій|Yurii"),
			surnames: surnames("Шевченко|Shevchenko, Коваленко|Kovalenko, Бондар|Bondar, Гнатюк|Hnatiuk, Ясинський|Yasynskyi/Ясинська|Yasynska, Лисенко|Lysenko, Щербак|Shcherbak, Бойко|Boiko, Вербицький|Verbytskyi/Вербицька|Verbytska, Гончар|Honchar, Довженко|Dovzhenko, Журавель|Zhuravel, Захарчук|Zakharchuk, Клименко|Klymenko, Кравчук|Kravchuk, Мельник|Melnyk, Мороз|Moroz, Павленко|Pavlenko, Поліщук|Polishchuk, Руденко|Rudenko, Савчук|Savchuk, Ткаченко|Tkachenko, Федоренко|Fedorenko, Яремчук|Yaremchuk"),
		},
		{
			share: 5, ethnicities: "NPS", middleNames: 10,
			female:   names("Aïcha|Aicha, Fatoumata, Khadîdja|Khadidja, Leïla|Leila, Maïmouna|Maimouna, Noémie|Noemie, Zaïnab|Zainab, Adama, Amina, Aminata, Awa, Binta, Djamila, Fadila, Farida, Habiba, Houria, Kadiatou, Karima, Latifa, Malika, Mariama, Nadia, Naïma|Naima, Oumou, Rokia, Safia, Salima, Yamina"),
			male:     names("Amadou, Chérif|Cherif, Idrissa, Moïse|Moise, Ousmane, Raphaël|Raphael, Yacine, Abdoulaye, Alioune, Boubacar, Cheikh, Djibril, Farid, Habib, Hakim, Ibrahima, Ismael, Karim, Lamine, Mamadou, Modibo, Mourad, Nabil, Omar, Rachid, Samir, Sékou|Sekou, Souleymane, Tahar"),
			surnames: surnames("Ben Amar|BenAmar, Cissé|Cisse, Diallo, El Fassi|ElFassi, N'Diaye|NDiaye, Traoré|Traore, Touré|Toure, Amrani, Ba, Bah, Bamba, Belkacem, Benali, Benjelloun, Berrada, Camara, Conte, Coulibaly, Dembélé|Dembele, Diarra, Diop, Fall, Faye, Gueye, Haidara, Kaba, Keïta|Keita, Konaté|Konate, Mansouri, Mbaye, Ndoye, Ouattara, Saidi, Sangaré|Sangare, Sarr, Seck, Sidibé|Sidibe, Sow, Sy, Tazi, Thiam, Wade, Zeroual"),
		},
		{
			share: 6, ethnicities: "HJKL", middleNames: 15, doubleBarrels: 1,
			female:   names("Aaliyah, Anjali, Deepika, Fatima, Kavita, Mehreen, Nasreen, Parveen, Priya, Sunita, Aisha, Amrita, Asma, Bushra, Divya, Farah, Geeta, Harpreet, Jaspreet, Kiran, Lakshmi, Manpreet, Meena, Naila, Nisha, Pooja, Rabia, Rekha, Ritu, Rukhsana, Saima, Seema, Shabana, Shazia, Simran, Tahira, Uma, Usha, Yasmin, Zara"),
			male:     names("Arjun, Bilal, Devendra, Faisal, Gurpreet, Imran, Manoj, Rajesh, Tariq, Vikram, Adnan, Ajay, Amit, Anil, Ashok, Asif, Baljit, Deepak, Farhan, Ganesh, Hamza, Harjit, Irfan, Jatinder, Kamran, Karan, Nadeem, Naveed, Nikhil, Prakash, Rahul, Rizwan, Rohan, Sanjay, Shahid, Suresh, Usman, Vijay, Yusuf, Zafar"),
			surnames: surnames("Ahmed, Bhattacharya, Chaudhry, Desai, Gill, Hussain, Iyer, Khan, Mukherjee, Patel, Rahman, Singh/Kaur, Abbasi, Agarwal, Akhtar, Ali, Anwar, Banerjee, Bhatt, Bhatti, Bose, Chowdhury, Dar, Das, Dutta, Farooqi, Gandhi, Ghosh, Grewal, Gupta, Iqbal, Islam, Jain, Javed, Joshi, Kapoor, Kulkarni, Kumar, Mahmood, Malik, Mehta, Menon, Mirza, Miah/Begum, Mishra, Nair, Pandey, Parmar, Pillai, Qureshi, Raja, Rajan, Rana, Rao, Reddy, Saleem, Sandhu, Sen, Shah, Sharma, Sheikh, Siddiqui, Sidhu, Solanki, Thakur, Uddin/Khatun, Varma, Yadav"),
		},
		{
			share: 4, ethnicities: "NM", middleNames: 30, doubleBarrels: 3,
			female:   names("Adaeze, Chidinma, Folasade, Ìfẹ́|Ife, Ngozi, Ọlábísí|Olabisi, Temitope, Yewande, Abena, Adwoa, Akosua, Ama, Amarachi, Blessing, Bukola, Chiamaka, Efua, Esi, Funmilayo, Ifeoma, Kehinde, Mercy, Nkechi, Nneka, Patience, Simisola, Titilayo, Uchenna, Yaa, Zainab"),
			male:     names("Babatunde, Chukwuemeka, Dàmilọ́lá|Damilola, Emeka, Kwabena, Kofi, Obinna, Olúṣẹ́gun|Olusegun, Abiodun, Adebayo, Ayodele, Chidi, Chinedu, Ebo, Ekow, Femi, Ikenna, Kojo, Kwame, Kwaku, Nana, Nnamdi, Oluwaseun, Samson, Sunday, Tunde, Uche, Yaw, Yemi"),
			surnames: surnames("Achebe, Adeyemi, Agyemang, Boateng, Eze, Okafor, Okonkwo, Ọláwálé|Olawale, Onyekachi, Abubakar, Acheampong, Adebisi, Adekunle, Adomako, Afolabi, Akande, Amoah, Ampofo, Ansah, Appiah, Asante, Bankole, Bello, Chukwu, Danquah, Darko, Ekwueme, Fashola, Gyamfi, Ibekwe, Igwe, Kuffour, Mensah, Nwachukwu, Nwosu, Obi, Odunsi, Ogunleye, Ojo, Oladipo, Opoku, Osei, Owusu, Quaye, Sarpong, Uzoma, Williams, Yeboah"),
		},
		{
			share: 3, ethnicities: "CS", middleNames: 15, doubleBarrels: 60,
			female:   names("Begoña|Begona, Inês|Ines, Lucía|Lucia, Nuria, Rocío|Rocio, Conceição|Conceicao, Alba, Ana, Beatriz, Carla, Catarina, Cristina, Elena, Isabel, Joana, Leonor, Mariana, Marta, Pilar, Sofia"),
			male:     names("Álvaro|Alvaro, Íñigo|Inigo, João|Joao, Joaquín|Joaquin, Martín|Martin, Nuño|Nuno, Alejandro, Bruno, Carlos, Diego, Duarte, Fernando, Francisco, Javier, Jorge, Miguel, Pablo, Pedro, Rafael, Tiago"),
			surnames: surnames("Ibáñez|Ibanez, Núñez|Nunez, Peña|Pena, Gonçalves|Goncalves, Araújo|Araujo, Zúñiga|Zuniga, Magalhães|Magalhaes"),
		},
		{
			share: 2, ethnicities: "ZS",
			female:   names("سارة|Sara, مريم|Maryam, نور|Nour, ليلى|Layla, أمل|Amal, دعاء|Duaa, رنا|Rana, زينب|Zainab, سلمى|Salma, فاطمة|Fatima, منى|Mona, هدى|Huda"),
			male:     names("أحمد|Ahmad, خالد|Khalid, يوسف|Yusuf, سامر|Samer, حسن|Hassan, زياد|Ziad, طارق|Tarek, عمر|Omar, كريم|Karim, محمد|Mohammad, مروان|Marwan, هاني|Hani"),
			surnames: surnames("الحسن|AlHassan, منصور|Mansour, حداد|Haddad, خوري|Khoury, الأسعد|AlAsaad, السيد|AlSayed, العلي|AlAli, جابر|Jaber, سليمان|Suleiman, شاهين|Shaheen, صباغ|Sabbagh, عيسى|Issa, قاسم|Qasem, نجار|Najjar"),
		},
		{
			share: 1, ethnicities: "CS",
			female:   names("ליאורה|Liora, תמר|Tamar, נועה|Noa, אסתר|Ester, מיכל|Michal, רות|Rut, שירה|Shira, תהילה|Tehila"),
			male:     names("נועם|Noam, איתן|Eitan, אורי|Uri, אברהם|Avraham, גיל|Gil, דניאל|Daniel, יעקב|Yaakov, משה|Moshe"),
			surnames: surnames("שפירא|Shapira, לוי|Levi, ברק|Barak, אלון|Alon, גולן|Golan, כהן|Cohen, מזרחי|Mizrahi, פרידמן|Friedman, רוזן|Rosen"),
		},
		{
			share: 2, ethnicities: "CZ", middleNames: 20,
			female:   names("Åse|Aase, Guðrún|Gudrun, Þóra|Thora, Māra|Mara, Çiğdem|Cigdem, Šárka|Sarka, Astrid, Elif, Hana, Ingrid, Ivana, Jana, Kristina, Līga|Liga, Sigrid, Solveig, Zeynep"),
			male:     names("Øystein|Oystein, Þorvaldur|Thorvaldur, Jānis|Janis, İbrahim|Ibrahim, Jiří|Jiri, Dušan|Dusan, Anders, Emre, Erik, Goran, Henrik, Lars, Magnus, Milan, Mehmet, Nikola, Pavel"),
			surnames: surnames("Sørensen|Sorensen, Ægisson|Aegisson/Ægisdóttir|Aegisdottir, Bērziņš|Berzins/Bērziņa|Berzina, Şahin|Sahin, Dvořák|Dvorak/Dvořáková|Dvorakova, Đorđević|Djordjevic, Aydın|Aydin, Berg, Dahl, Demir, Hansen, Haugen, Horvat, Jansons/Jansone, Kalniņš|Kalnins/Kalniņa|Kalnina, Kaya, Larsen, Lindqvist, Nilsson, Novotný|Novotny/Novotná|Novotna, Ozols/Ozola, Petrov/Petrova, Popescu, Svoboda/Svobodová|Svobodova, Yılmaz|Yilmaz"),
		},
	}
})
