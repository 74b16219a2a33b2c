import ProviderModel
import PushBridges
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

@Suite struct IRCSessionTests {
    private func session(
        _ settings: [String: JSONValue] = [:],
        account: String = "ada@martlet",
        password: String = "tea",
        seenThrough: Timestamp = .start
    ) throws -> IRCSession {
        let login = ChatLogin(
            host: "irc.example.org",
            port: 6697,
            account: account,
            password: password,
            settings: .object(settings)
        )
        return try IRCSession(login, memory: ChatMemory(seenThrough: seenThrough))
    }

    /// Returns a session that is signed in.
    private func signedIn(_ settings: [String: JSONValue] = [:], seenThrough: Timestamp = .start) throws -> IRCSession {
        var session = try self.session(settings, seenThrough: seenThrough)
        _ = session.opened(at: ClockReading(.start))
        _ = session.received(":s CAP * LS :sasl=PLAIN server-time message-tags\r\n:s CAP * ACK :sasl\r\n")
        let actions = session.received("AUTHENTICATE +\r\n:s 903 ada :ok\r\n:s 001 ada :Welcome\r\n")
        #expect(actions.contains(.signedIn))
        return session
    }

    // MARK: Signing in

    @Test func itSignsInWithSASL() throws {
        var session = try self.session(["channels": ["#lab", "#tea"]])
        #expect(session.serverName == "irc.example.org" && session.isSecureFromStart)
        #expect(session.opened(at: ClockReading(.start)).text == "CAP LS 302\r\nNICK ada\r\nUSER ada 0 * ada\r\n")
        #expect(session.received(":s CAP * LS * :multi-prefix sasl=EXTERNAL,PLAIN\r\n") == [])
        let request = session.received(":s CAP * LS :server-time account-tag message-tags echo-message\r\n").text
        #expect(request == "CAP REQ :account-tag message-tags server-time sasl\r\n")
        #expect(
            session.received(":s CAP ada ACK :account-tag message-tags server-time sasl\r\n").text
                == "AUTHENTICATE PLAIN\r\n"
        )
        #expect(session.received("AUTHENTICATE +\r\n").text == "AUTHENTICATE AGFkYUBtYXJ0bGV0AHRlYQ==\r\n")
        #expect(session.received(":s 900 ada x ada :hi\r\n:s 903 ada :ok\r\n").text == "CAP END\r\n")
        let actions = session.received(":s 001 ada :Welcome\r\n")
        #expect(actions == [.send(Array("JOIN #lab\r\nJOIN #tea\r\n".utf8)), .signedIn])
    }

    @Test func aLineMayArriveInPieces() throws {
        var session = try self.session()
        _ = session.opened(at: ClockReading(.start))
        #expect(session.received("PING :a") == [])
        #expect(session.received("b\r") == [])
        #expect(session.received("\nPING c\n").text == "PONG ab\r\nPONG c\r\n")
    }

    @Test func aBouncerGetsAccountAndPasswordInOneLine() throws {
        var session = try self.session(["authentication": "pass", "nick": "lovelace"], account: "ada/libera")
        let lines = session.opened(at: ClockReading(.start)).text
        #expect(lines == "CAP LS 302\r\nPASS ada/libera:tea\r\nNICK lovelace\r\nUSER lovelace 0 * lovelace\r\n")
        #expect(session.received(":z CAP * LS :server-time\r\n").text == "CAP REQ server-time\r\n")
        #expect(session.received(":z CAP * ACK :server-time\r\n").text == "CAP END\r\n")
        // The bouncer has a nick of its own, and keeps it.
        #expect(session.received(":z 001 ada_l :Welcome\r\n") == [.signedIn])
        #expect(session.timePassed(at: ClockReading(.after(120))).text == "PING martlet\r\n")
        #expect(
            session.received(":bob!b@h PRIVMSG #lab :ada_l?\r\n", at: .after(121)).messages.first?.isHighlight == true
        )
    }

    @Test func aServerWithoutCapabilitiesWillDoForABouncersPassword() throws {
        var session = try self.session(["authentication": "pass"])
        _ = session.opened(at: ClockReading(.start))
        #expect(session.received(":s 421 ada CAP :Unknown command\r\n:s 001 ada :Welcome\r\n") == [.signedIn])
    }

    @Test func aLongPasswordIsSentInPieces() throws {
        // 300 bytes are exactly 400 characters.
        var session = try self.session(account: "a", password: String(repeating: "x", count: 297))
        _ = session.opened(at: ClockReading(.start))
        _ = session.received(":s CAP * LS :sasl\r\n:s CAP * ACK :sasl\r\n")
        let lines = session.received("AUTHENTICATE +\r\n").text.split(separator: "\r\n")
        #expect(lines.count == 2 && lines.first?.utf8.count == "AUTHENTICATE ".utf8.count + 400)
        #expect(lines.last == "AUTHENTICATE +")
    }

    @Test(arguments: [
        ("904 ada :SASL authentication failed", true), ("902 ada :locked", true), ("906 ada :aborted", false),
    ])
    func aRefusalOfThePasswordIsFinal(line: String, isFinal: Bool) throws {
        var session = try self.session()
        _ = session.opened(at: ClockReading(.start))
        _ = session.received(":s CAP * LS :sasl\r\n:s CAP * ACK :sasl\r\nAUTHENTICATE +\r\n")
        let failure = session.received(":s \(line)\r\n").failure
        #expect(failure?.isFinal == isFinal)
        #expect(failure?.reason.contains("tea") == false)
        // Nothing follows.
        #expect(session.received(":s 001 ada :Welcome\r\n") == [] && session.nextDeadline == nil)
    }

    @Test(arguments: ["464 * :Password incorrect", "465 * :You are banned", "432 * ada :Erroneous nickname"])
    func someRefusalsAreFinal(line: String) throws {
        var session = try self.session(["authentication": "pass"])
        _ = session.opened(at: ClockReading(.start))
        #expect(session.received(":s \(line)\r\n").failure?.isFinal == true)
    }

    /// ngircd, and others that know no number of a message for it.
    @Test(arguments: [
        ("Access denied! Bad server password?", true), ("Closing Link: 192.0.2.1 (Bad Password)", true),
        ("Invalid credentials", true), ("Closing Link: (Throttled: Reconnecting too fast)", false),
        ("Server full", false), ("Closing Link: ada[password.example.net] (Reconnecting too fast)", false),
        ("Closing Link: password.example.net", false),
    ])
    func anErrorInsteadOfTheWelcomeMayRefuseThePassword(words: String, isFinal: Bool) throws {
        var session = try self.session(["authentication": "pass"])
        _ = session.opened(at: ClockReading(.start))
        let failure = session.received("ERROR :\(words)\r\n").failure
        #expect(failure?.isFinal == isFinal)
        #expect(failure?.reason.hasSuffix(words) == true)
        var online = try self.signedIn()
        #expect(online.received("ERROR :\(words)\r\n").failure?.isFinal == false)
    }

    /// The name and the host of the client are among the words.
    @Test(arguments: [
        ("Access denied", true), ("Closing Link: ada[192.0.2.1] (Unauthorized connection)", true),
        ("Closing Link: ada[login.example.net] (Reconnecting too fast)", false),
        ("Closing Link: login[192.0.2.1] (Server is restarting)", false), ("Closing Link: login.example.net", false),
        ("Server full", false),
    ])
    func someWordsMayBeARefusal(words: String, mayBeRefusal: Bool) throws {
        var session = try self.session(["authentication": "pass"])
        _ = session.opened(at: ClockReading(.start))
        let failure = try #require(session.received("ERROR :\(words)\r\n").failure)
        #expect(failure.mayBeRefusal == mayBeRefusal && !failure.isFinal)
    }

    /// bip says nothing at all.
    @Test func anEndInsteadOfTheWelcomeMayBeARefusal() throws {
        var session = try self.session(["authentication": "pass"])
        #expect(!session.closing.mayBeRefusal)
        _ = session.opened(at: ClockReading(.start))
        #expect(session.closing.mayBeRefusal && !session.closing.isFinal)
        _ = session.received(":s 001 ada :Welcome\r\n")
        #expect(!session.closing.mayBeRefusal)
    }

    @Test(arguments: ["403", "474", "479", "480", "489", "520"])
    func anyErrorAboutAChannelIsARefusal(number: String) throws {
        var session = try self.signedIn(["channels": ["#Lab"]])
        let actions = session.received(":s \(number) ada #lab :no\r\n", at: .after(1))
        #expect(actions == [.trouble("the channel #Lab cannot be joined, trying again: no")])
        #expect(session.received(":s 332 ada #lab :a topic\r\n", at: .after(2)) == [])
    }

    @Test func aChannelThatIsRefusedIsShownAndAskedForAgain() throws {
        var session = try self.signedIn(["channels": ["#Lab", "#tea"]])
        let line = ":s 437 ada #lab :Nick/channel is temporarily unavailable\r\n"
        let reason = "the channel #Lab cannot be joined, trying again: Nick/channel is temporarily unavailable"
        #expect(session.received(line, at: .after(1)) == [.trouble(reason)])
        #expect(session.nextDeadline == .after(61))
        #expect(session.timePassed(at: ClockReading(.after(60))) == [])
        #expect(session.timePassed(at: ClockReading(.after(61))).text == "JOIN #Lab\r\n")
        #expect(session.nextDeadline == .after(121))
        // Refused once more, it waits longer.
        #expect(session.received(line, at: .after(62)) == [.trouble(reason)])
        #expect(session.timePassed(at: ClockReading(.after(122))) == [])
        #expect(session.timePassed(at: ClockReading(.after(182))).text.hasPrefix("JOIN #Lab\r\n"))
        #expect(session.received(":ada!a@h JOIN :#lab\r\n", at: .after(183)) == [.trouble(nil)])
        // Another's channel, and a nick that is not free, are none of it.
        #expect(session.received(":s 437 ada #other :no\r\n:s 437 ada ada_ :no\r\n", at: .after(184)) == [])
        #expect(session.nextDeadline == .after(304))
    }

    @Test(arguments: [
        ":s CAP * LS :server-time", ":s CAP * LS :sasl=EXTERNAL", ":s 001 ada :Welcome", "ERROR :Closing Link",
    ])
    func thePasswordIsSentWithSASLOnly(line: String) throws {
        var session = try self.session()
        _ = session.opened(at: ClockReading(.start))
        let actions = session.received("\(line)\r\n")
        #expect(actions.failure?.isFinal == false)
        #expect(actions.text.isEmpty)
    }

    @Test func capabilitiesThatAreRefusedAreLeftOut() throws {
        var session = try self.session()
        _ = session.opened(at: ClockReading(.start))
        _ = session.received(":s CAP * LS :sasl server-time\r\n")
        #expect(session.received(":s CAP * NAK :server-time sasl\r\n").text == "CAP REQ sasl\r\n")
        #expect(session.received(":s CAP * NAK :sasl\r\n").failure?.isFinal == false)
    }

    @Test func aNickInUseGetsALineBelow() throws {
        var session = try self.session(["authentication": "pass"])
        _ = session.opened(at: ClockReading(.start))
        #expect(session.received(":s 433 * ada :in use\r\n").text == "NICK ada_\r\n")
        #expect(session.received(":s 433 * ada_ :in use\r\n").text == "NICK ada__\r\n")
        #expect(session.received(":s 001 ada__ :Welcome\r\n") == [.signedIn])
        // The wanted nick is a highlight too, and is asked for again.
        #expect(session.received(":bob!b@h PRIVMSG #lab :ada?\r\n").messages.first?.isHighlight == true)
        #expect(session.timePassed(at: ClockReading(.after(120))).text == "PING martlet\r\nNICK ada\r\n")
        _ = session.received(":ada__!a@h NICK ada\r\n", at: .after(121))
        #expect(session.received(":bob!b@h PRIVMSG ada :hi\r\n", at: .after(122)).messages.first?.isDirect == true)
    }

    // MARK: Staying signed in

    @Test func silenceIsAskedAboutAndThenAFailure() throws {
        var session = try self.signedIn()
        #expect(session.nextDeadline == .after(120))
        #expect(session.timePassed(at: ClockReading(.after(119))) == [])
        #expect(session.timePassed(at: ClockReading(.after(120))).text == "PING martlet\r\n")
        #expect(session.nextDeadline == .after(180))
        _ = session.received(":s PONG s martlet\r\n", at: .after(130))
        #expect(session.nextDeadline == .after(250))
        _ = session.timePassed(at: ClockReading(.after(250)))
        #expect(session.timePassed(at: ClockReading(.after(310))).failure?.isFinal == false)
    }

    @Test func aSlowSignInFails() throws {
        var session = try self.session()
        _ = session.opened(at: ClockReading(.start))
        #expect(session.timePassed(at: ClockReading(.after(60))).failure?.isFinal == false)
    }

    @Test func itSaysGoodbye() throws {
        var session = try self.signedIn()
        #expect(String(decoding: session.leave(), as: UTF8.self) == "QUIT :\r\n")
        #expect(session.leave().isEmpty && session.nextDeadline == nil)
    }

    // MARK: Messages

    @Test func aDirectMessageIsOneOfItsSender() throws {
        var session = try self.signedIn()
        let line = "@time=2023-11-14T22:13:21.500Z;msgid=m1 :bob!b@h PRIVMSG ADA :\u{2}tea\u{2}?\r\n"
        let message = session.received(line, at: .after(2)).messages.first
        #expect(message?.sender == "bob" && message?.conversation == "bob" && message?.isDirect == true)
        #expect(message?.text == "tea?" && message?.id == "m1")
        #expect(message?.at == Timestamp(milliseconds: 1_700_000_001_500))
        #expect(session.memory.seenThrough == message?.at)
    }

    @Test func aLineInAChannelIsAHighlightWithTheNickOrAWord() throws {
        var session = try self.signedIn(["highlights": ["tea"]])
        func highlight(_ text: String) -> Bool? {
            session.received(":bob!b@h PRIVMSG #Lab :\(text)\r\n").messages.first?.isHighlight
        }
        #expect(highlight("hello") == false)
        #expect(highlight("Ada, hello") == true)
        #expect(highlight("TEA!") == true)
        #expect(highlight("teapot") == false)
        #expect(session.received(":bob!b@h PRIVMSG #Lab :x\r\n").messages.first?.thread == "#lab")
    }

    /// Only what a push shows is searched: a line may have eight times as much.
    @Test func aWordAtTheEndOfALongLineIsNoHighlight() throws {
        var session = try self.signedIn(["highlights": ["tea"]])
        let text = String(repeating: "x ", count: 4000)
        for (line, isHighlight) in [(text + "tea", false), ("tea " + text, true), ("ada " + text, true)] {
            let message = session.received(":bob!b@h PRIVMSG #lab :\(line)\r\n").messages.first
            #expect(message?.isHighlight == isHighlight)
        }
    }

    /// It is the one that the welcome names, the one that is tried after one in use, or that of a change.
    @Test(arguments: [
        ([":s 001 lovelace :Welcome"], "Lovelace", false), ([":s 433 * ada :in use", ":s 001"], "ada_", true),
        ([":s 001 ada :Welcome", ":ada!a@h NICK lovelace", ":bob!b@h NICK ada"], "Lovelace", false),
    ])
    func anotherNickIsLookedForFromThenOn(lines: [String], nick: String, isWantedToo: Bool) throws {
        var session = try self.session(["authentication": "pass"])
        _ = session.opened(at: ClockReading(.start))
        let actions = session.received(lines.map { "\($0)\r\n" }.joined())
        #expect(actions.contains(.signedIn))
        for (text, isHighlight) in [("\(nick): tea?", true), ("ada: tea?", isWantedToo), ("\(nick)x: tea?", false)] {
            let message = session.received(":bob!b@h PRIVMSG #lab :\(text)\r\n").messages.first
            #expect(message?.isHighlight == isHighlight)
        }
    }

    @Test func anActionIsTextAndOtherQuestionsOfProgramsAreNot() throws {
        var session = try self.signedIn()
        #expect(session.received(":bob!b@h PRIVMSG ada :\u{1}ACTION waves\u{1}\r\n").messages.first?.text == "* waves")
        #expect(session.received(":bob!b@h PRIVMSG ada :\u{1}VERSION\u{1}\r\n") == [])
        #expect(session.received(":bob!b@h PRIVMSG ada :\u{2}\u{f}\r\n") == [])
    }

    @Test(arguments: [
        ":s NOTICE ada :*** Looking up", ":NickServ!s@services NOTICE ada :You are now identified",
        ":*status!znc@znc.in PRIVMSG ada :Connected", ":s 372 ada :motd", "PRIVMSG ada :no source",
        ":bob!b@h PRIVMSG ada", "@time=2023-11-14T22:13:19Z :bob!b@h PRIVMSG ada :before",
    ])
    func whatIsNotForPeopleIsNoMessage(line: String) throws {
        var session = try self.signedIn()
        #expect(session.received("\(line)\r\n", at: .after(1)) == [])
    }

    @Test func whatWasSeenBeforeThisConnectionIsNotReplayed() throws {
        var session = try self.signedIn(seenThrough: .after(10))
        // The lines of one channel follow those of another.
        let replay = [(20, "#a"), (30, "#a"), (9, "#b"), (10, "#b"), (15, "#b")]
        let texts = replay.flatMap { second, channel in
            let time = Timestamp.after(Int64(second)).rfc3339
            return session.received("@time=\(time) :bob!b@h PRIVMSG \(channel) :ada \(second)\r\n", at: .after(60))
                .messages
        }
        #expect(texts.map(\.text) == ["ada 20", "ada 30", "ada 10", "ada 15"])
        #expect(session.memory.seenThrough == .after(30))
    }

    @Test func aServersClockThatIsAheadHidesNothing() throws {
        var session = try self.signedIn()
        let time = Timestamp.after(3600).rfc3339
        #expect(session.received("@time=\(time) :bob!b@h PRIVMSG ada :a\r\n", at: .after(5)).messages.count == 1)
        #expect(session.memory.seenThrough == .after(5))
        // A time that cannot be is none.
        let message = session.received("@time=9999-01-01T00:00:00Z :bob!b@h PRIVMSG ada :b\r\n", at: .after(6)).messages
            .first
        #expect(message?.at == .after(6))
    }

    @Test func theUsersOwnWordsShowThatTheyAreThere() throws {
        var session = try self.signedIn()
        #expect(session.received(":ADA!a@h PRIVMSG #lab :me\r\n") == [.wroteElsewhere(conversation: "#lab")])
    }

    // MARK: Limits

    @Test func aLineThatNeverEndsFails() throws {
        var session = try self.signedIn()
        let part = String(repeating: "x", count: 4000)
        #expect(session.received(part) == [])
        #expect(session.received(part) == [])
        #expect(session.received(part).failure?.isFinal == false)
    }

    @Test func garbageNeitherCrashesNorSendsAnything() throws {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<200 {
            var session = try self.signedIn()
            let bytes = (0..<300).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let actions = session.received(String(decoding: bytes, as: UTF8.self) + "\r\n")
            #expect(actions.messages.isEmpty)
        }
    }

    @Test(
        arguments: [
            ["nick": "a b"], ["nick": "#ada"], ["nick": ":a"], ["channels": ["lab"]], ["channels": ["#a,#b"]],
            ["channels": ["#a\r\nQUIT"]], ["authentication": "none"], ["tls": "start"], ["nick": "a\r\nQUIT"],
        ] as [[String: JSONValue]]
    )
    func settingsThatMeanSomethingElseAreRefused(settings: [String: JSONValue]) {
        #expect(throws: RequestError.self) { try self.session(settings) }
    }

    @Test func aPasswordHasNoLineEnds() {
        #expect(throws: RequestError.self) { try self.session(password: "a\r\nQUIT") }
        #expect(throws: RequestError.self) { try self.session(account: "a\nb") }
    }
}
