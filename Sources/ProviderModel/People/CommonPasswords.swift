/// Passwords that many people have chosen, in lower case.
///
/// They are the frequent passwords of leaked lists from the library zxcvbn (Python, 4.5.0, MIT licence), without
/// obscene ones, and a few more.
enum CommonPasswords {
    /// The passwords of at least twelve characters that no other rule refuses.
    static let whole: Set<Substring> = Set(
        """
        123qweasdzxc 1qaz2wsx3edc q1w2e3r4t5y6 1q2w3e4r5t6y mailcreated5240 qazwsxedcrfv 123456qwerty qwerty123456
        polniypizdec0211 sojdlg123aljg leavemealone 123456654321 gfhjkmgfhjkm qazwsxedc123 ghjcnjgfhjkm sonyericsson
        zxcasdqwe123 ghhh47hj7649 123456789qwe 1qazxsw23edc qwerasdfzxcv qweasdzxc123 flvbybcnhfnjh 123456789987654321
        112233445566 finalfantasy ghbdtnrfrltkf websolutions chickenwing101 1qaz2wsx3edc4rfv justinbieber
        contortionist newproject2004 needforspeed businessbabe 123456789123 maurolarastefy domainlock2005 dkflbvbhjdbx
        hd764nw5d7e1vb1 qazwsxedcrfvtgb dkflbvbhjdyf counterstrike zaq1xsw2cde3 vfvfvskfhfve ghjcnjghjcnj fkmnthyfnbdf
        123456789abc admin18533362 23176djivanfros 123456789qwerty qazxswedcvfr qwertyasdfgh whosyourdaddy
        fktrcfylhjdyf fktrcfylhjdbx 123456789qaz 541233432442 12345678900987654321 password1234 ghbdtnghbdtn
        010203040506 lost4815162342 102030405060 vanyarespekt combat123654 qwerty123456789 devilmaycry4 iseedeadpeople
        89231243658s 123456789qqq jamesbond007 4815162342lost 123123qweqwe qwertyytrewq 1234567890qw 1234qwerasdf
        123qwe456rty asdfghjkl123 ghjcnjrdfibyj qwertyuiop123 saun24865709 q1w2e3r4t5y6u7 1qa2ws3ed4rf 123456789zxc
        polniypizdec110211 ptybnxtvgbjy 12345678987654321 mevefalkcakk playstation3 31217221027711 q1w2e3r4t5y6u7i8
        zqjphsyf6ctifgu 1234567890qwe hedimaptfcor lhbjkjubz2957704 andrewjackie networkingpe 12qw34er56ty
        1qazxsw23edcvfr4 159753456852 123456782000 christopher1 ingodwetrust installdevic digitalprodu minecraft123
        boy4u2ownnyc 1234567890zzz olcrackmaster abc123456789 auckland2010 residentevil qawsedrftgyh 123321qweewq
        32615948worms 742617000027 nemvxyheqdd5oqxyxyzi avrillavigne massimiliano 012345678910 41d8cd98f00b
        nhfdvfnjkju123 gjkysqgbpltw temppassword ticketmaster 01telemike01 p030710p$e4o stratocaster punksnotdead
        playstation2 fynfyfyfhbde ghjcnjqgfhjkm nightcrawler installsqlst 123456789101 frederiksberg 1234567890qaz
        1a2s3d4f5g6h sanfrancisco 89876065093rax ghjcnjgbpltw 1234567qwertyu 1234qwerasdfzxcv lytghjgtnhjdcr
        zaqwsxcderfv seemnemaailm nhecsyfujkjdt qwaszxerdfcv antananarivu vfrcbvvfrcbv greenlantern
        q1w2e3r4t5y6u7i8o9p0 passwordstandard corperfmonsy maprchem56458 warhammer40k 1234567890qwerty morganstanley
        1234567890987654321 cjdthitycndj bltynbabrfwbz stinkyfinger qwertyuiop10 qazxswedc123 iampurehaha2
        zxcvbn123456 gtnhjpfdjlcr 123321456654 59382113kevinp bpgjldsgjldthnf rfnthbyf1988 1qa2ws3ed4rf5tg
        qwertyuiop12345 nhfycajhvths msorcloledbr stickdaddy77 vfhbyfvfhbyf asdfgh123456 123456789asd specialinsta
        michaeljackson webuivalidat 1234567887654321 1234567892000 ilovemyfamily weihnachtsbau qaz123wsx456
        123456789qwer 111222333444555 123456789000 systemofadown vladimirovna 122333444455555 amadeusptfcor
        zxcvbnm123456789 websolutionssu mortalkombat paraklast1974 minnesota_hp nondriversig 123qwerty123 a1s2d3f4g5h6
        z1x2c3v4b5n6m7 ghjnbdjcnjzybt thecakeisalie fktrcfylhjdf qwertyuiop12 ontheoutside zcfvfzkexifz sonnenschein
        wazzkaprivet qwertasdfgzxcvb weihnachtsbaum correcthorsebatterystaple passwordpassword changemechangeme
        administrator letmeinletmein welcomewelcome iloveyouforever passw0rdpassw0rd thisismypassword mysecretpassword
        supersecretpassword notapassword trustno1trustno1 qwertyqwerty asdfghasdfgh zxcvbnzxcvbn monkeymonkey
        dragondragon adminadminadmin rootrootroot passwort1234 geheimgeheim motdepasse123 contrasena123
        """
        .split(whereSeparator: \.isWhitespace)
    )

    /// The words that are common passwords, by themselves or with digits around them.
    static let words: Set<Substring> = Set(
        """
        password qwerty dragon baseball football monkey letmein shadow master mustang qwertyuiop superman qazwsx
        jordan killer hunter harley zxcvbnm asdfgh buster batman soccer tigger charlie sunshine iloveyou ranger hockey
        computer starwars pepper klaster zxcvbn freedom princess maggie ginger love cheese summer chelsea dallas
        biteme matrix yankees corvette austin access thunder merlin secret diamond hello hammer silver gfhjkm internet
        samantha golfer scooter test orange cookie maverick sparky phoenix mickey bigdog snoopy guitar whatever
        chicken camaro mercedes peanut ferrari falcon cowboy welcome samsung steelers smokey dakota arsenal boomer
        eagles tigers marina nascar gateway yellow porsche monster spider diablo hannah bulldog junior london purple
        compaq lakers iceman hardcore cowboys money banana boston tennis coffee scooby nikita yamaha mother barney
        brandy chester oliver player forever rangers midnight chicago bigdaddy redsox angel badboy fender jasper
        slayer rabbit natasha marine wizard marlboro raiders prince casper fishing flower jasmine iwantu adidas winter
        winner gandalf enter ghbdtn golden cocacola winston madison angels panther blowme sophie asdfasdf toyota tiger
        canada muffin liverpoo apples pokemon slipknot qazxsw scorpion qwaszx startrek rainbow asdfghjkl razz newyork
        redskins gemini cameron qazwsxedc florida liverpool turtle sierra viking booger doctor rocket dolphins captain
        bandit jaguar packers pookie peaches asdf dolphin helpme blue theman maxwell qwertyui lovers maddog giants
        nirvana metallic hotdog rosebud mountain warrior stupid elephant success alexis lucky scorpio samson azerty
        driver freddy sydney gators dexter bubba creative voodoo golf trouble america nissan gunner garfield asdfghjk
        apollo eminem legend airborne bear beavis apple brooklyn godzilla skippy buddy qwert kitten magic shelby
        beaver phantom asdasd xavier braves darkness copper platinum qweqwe tomcat girls bigboy animal police online
        voyager lifehack fish sniper trinity blazer heaven lover snowball loveme bubbles cricket willow donkey topgun
        nintendo saturn destiny pakistan pumpkin digital sergey redwings explorer private runner therock guinness
        lasvegas beatles fire cassie christin celtic andrey broncos babygirl eclipse fluffy cartman michigan carolina
        testing alexande birdie pantera cherry vampire mexico buffalo genius montana beer minecraft maximus flyers
        lovely stalker metallica doggie snickers speedy bronco paradise yankee horses magnum dreams lacrosse goober
        enigma qwertyu scotty bollocks surfer poohbear genesis star qweasdzxc racing hawaii viper poopoo einstein
        drowssap simple badger alaska action jester drummer spitfire forest maryjane champion diesel svetlana friday
        hotrod chevy westside security google tester shorty thumper hitman mozart reddog lizard ruslan eagle scarface
        buddha spirit stargate naruto mercury liberty semperfi suzuki popcorn spooky marley scotland kitty cherokee
        vikings simpsons rascal qweasd hummer loveyou patches russia jupiter penguin passion vfhbyf honda vladimir
        sandman passport raider bastard infinity assman bulldogs fantasy horney domino budlight disney ironman
        softball brutus redrum bigred mnbvcxz passwort geheim admin administrator root changeme default guest login
        user demo sommer spring autumn herbst fruehling january february march april june july august september
        october november december monday company push notification iphone qwertz passphrase motdepasse contrasena
        """
        .split(whereSeparator: \.isWhitespace)
    )
}
