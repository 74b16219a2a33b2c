import PushSupport
import Testing

/// The tokens of XML, and what tags and characters say.
@Suite struct XMLTokenTests {
    private func tokens(_ text: String, pieces: Int = .max) throws -> [XMLToken] {
        var (scanner, tokens) = (XMLTokenScanner(), [XMLToken]())
        let bytes = Array(text.utf8)
        var (position, arrived) = (0, 0)
        while arrived < bytes.count {
            arrived += min(pieces, bytes.count - arrived)
            while let (token, end) = try scanner.scan(bytes[position..<arrived]) {
                tokens.append(token)
                position = end
            }
        }
        return tokens
    }

    @Test(arguments: [1, 2, 7, .max]) func tokensEndWhereverTheirBytesAreCut(_ pieces: Int) throws {
        let text = "<?xml version='1.0'?><a b='>'>x &lt;<![CDATA[<y>]]]></a>"
        #expect(try self.tokens(text, pieces: pieces) == [.declaration, .tag, .characters, .section, .tag])
    }

    @Test(arguments: ["<!-- x -->", "<!DOCTYPE a>", "<?php ?>"]) func otherPartsAreRestricted(_ text: String) {
        #expect(throws: XMLFault(.restricted, "it has a comment, a processing instruction or a document type")) {
            try self.tokens(text)
        }
    }

    @Test func aTagHasANameAndAttributes() throws {
        let tag = try XMLTag(Array("<a:b c='1' d=\"&lt;&#x41;\t\"/>".utf8)[...])
        #expect(tag.name == "a:b" && tag.kind == .empty)
        #expect(tag.attributes.map(\.name) == ["c", "d"])
        #expect(tag.attributes.map(\.value) == ["1", "<A "])
        let (prefix, local) = XMLTag.split(tag.name)
        #expect(prefix == "a" && local == "b")
    }

    @Test(arguments: [
        "<a b>", "<a b=c>", "<a b='1'c='2'>", "<a b='1' b='2'>", "<1>", "<a:b:c>", "</a b='1'>", "<a b='&x'>",
    ])
    func whatIsNoTagIsRefused(_ text: String) {
        #expect(throws: XMLFault.self) { try XMLTag(Array(text.utf8)[...]) }
    }

    @Test func charactersStandForOthers() throws {
        func decode(_ text: String, _ place: XMLCharacters.Place) throws -> String {
            try XMLCharacters.decode(Array(text.utf8)[...], place)
        }
        #expect(try decode("a\r\nb\rc &amp;", .text) == "a\nb\nc &")
        #expect(try decode("a\r\nb\tc", .attribute) == "a b c")
        #expect(try decode("a &amp; b", .section) == "a &amp; b")
        #expect(throws: XMLFault.self) { try decode("]]>", .text) }
        #expect(throws: XMLFault.self) { try decode("&nbsp;", .text) }
        #expect(throws: XMLFault(.notUTF8, "it is not UTF-8")) { try XMLCharacters.decode([0xff], .text) }
    }
}
