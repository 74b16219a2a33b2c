import Testing

@testable import PushBridges

@Suite struct IRCMessageTests {
    private func message(_ text: String) -> IRCMessage? { IRCMessage(Array(text.utf8)[...]) }

    @Test func aLineHasTagsSourceCommandAndParameters() {
        let line = #"@time=2023-11-14T22:13:20.000Z;msgid=a\:b\s\\;flag :ada!a@host PRIVMSG #lab :tea: now?"#
        let message = self.message(line)
        #expect(message?.tags == ["time": "2023-11-14T22:13:20.000Z", "msgid": #"a;b \"#, "flag": ""])
        #expect(message?.source == "ada!a@host" && message?.nick == "ada")
        #expect(message?.command == "PRIVMSG")
        #expect(message?.parameters == ["#lab", "tea: now?"])
    }

    @Test func spacesAndCasesDoNotMatter() {
        #expect(self.message(":irc.example  ping   a  b ")?.parameters == ["a", "b"])
        #expect(self.message("ping :")?.parameters == [""])
        #expect(self.message("ping")?.command == "PING")
        // A server has no nick.
        #expect(self.message(":irc.example NOTICE * :hello")?.nick == nil)
    }

    @Test func noMoreThanFifteenParametersAreRead() {
        let words = (1...20).map(String.init).joined(separator: " ")
        let message = self.message("X \(words)")
        #expect(message?.parameters.count == 15)
        #expect(message?.parameters.last == "15 16 17 18 19 20")
    }

    @Test(arguments: ["", " ", "@", "@a", "@a ", ":", ":x", "@a=b :x"])
    func whatHasNoCommandIsNoMessage(line: String) {
        #expect(self.message(line) == nil)
    }

    @Test func bytesThatAreNotUTF8AreReplaced() {
        let message = IRCMessage([0x58, 0x20, 0xff, 0x41][...])
        #expect(message?.parameters == ["\u{fffd}A"])
    }

    @Test func aLineThatIsSentIsOneLine() {
        #expect(String(decoding: IRCMessage("JOIN", "#lab").bytes, as: UTF8.self) == "JOIN #lab\r\n")
        #expect(String(decoding: IRCMessage("A", "b c").bytes, as: UTF8.self) == "A :b c\r\n")
        #expect(String(decoding: IRCMessage("A", "").bytes, as: UTF8.self) == "A :\r\n")
        #expect(String(decoding: IRCMessage("A", ":b").bytes, as: UTF8.self) == "A ::b\r\n")
        #expect(String(decoding: IRCMessage("A", "b\r\nQUIT\0").bytes, as: UTF8.self) == "A bQUIT\r\n")
    }

    @Test func formattingIsNoText() {
        #expect(IRCText.plain("plain ü") == "plain ü")
        #expect(
            IRCText.plain("\u{2}bold\u{f} \u{3}04,12red\u{3} \u{3}5x\u{3},y \u{4}ff0000hex \u{1d}i")
                == "bold red x,y hex i"
        )
        // Two digits at most belong to a color.
        #expect(IRCText.plain("\u{3}123") == "3")
    }

    @Test(arguments: [
        ("ada: tea?", true), ("tea, ADA?", true), ("(ada)", true), ("ada", true), ("tea ada", true),
        ("adagio", false), ("canada", false), ("ada_", false), ("ada-away", false), ("äda", false), ("", false),
        ("adaada ada", true),
    ])
    func aNickIsAWord(text: String, isFound: Bool) {
        #expect(IRCText.contains(anyOf: [IRCText.word("ada")], in: text) == isFound)
        #expect(IRCText.contains(anyOf: ["", "Tee", "ADA"].map(IRCText.word), in: text) == isFound)
        #expect(!IRCText.contains(anyOf: [], in: text))
    }
}
