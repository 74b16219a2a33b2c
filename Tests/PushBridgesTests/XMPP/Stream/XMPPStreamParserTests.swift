import Testing

@testable import PushBridges

@Suite struct XMPPStreamParserTests {
    private static let header = """
        <?xml version='1.0'?><stream:stream xmlns='jabber:component:accept' \
        xmlns:stream='http://etherx.jabber.org/streams' from='push.example.org' id='3BF96D32'>
        """

    private func events(_ text: String, piece: Int = .max) throws -> [XMPPStreamEvent] {
        var parser = XMPPStreamParser()
        return try Self.feed(&parser, Array(text.utf8), piece: piece)
    }

    private static func feed(
        _ parser: inout XMPPStreamParser,
        _ bytes: [UInt8],
        piece: Int = .max
    ) throws -> [XMPPStreamEvent] {
        var events: [XMPPStreamEvent] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            try parser.receive(rest.prefix(piece))
            rest = rest.dropFirst(piece)
            while let event = try parser.next() { events.append(event) }
        }
        return events
    }

    /// Returns the one stanza of a stream that is open.
    private func stanza(_ text: String) throws -> XMLElement? {
        guard case .stanza(let stanza)? = try self.events(Self.header + text).last else { return nil }
        return stanza
    }

    private func condition(_ text: String, afterHeader: Bool = true) -> XMPPStreamError.Condition? {
        do {
            _ = try self.events(afterHeader ? Self.header + text : text)
            return nil
        } catch {
            return (error as? XMPPStreamError)?.condition
        }
    }

    @Test(arguments: [1, 2, 7, Int.max]) func piecesMeanWhatTheWholeMeans(piece: Int) throws {
        let stanzas = " \n<handshake/> <iq type='get' id='a&amp;b'><ping xmlns='urn:xmpp:ping'/></iq>\n"
        let text = Self.header + stanzas + "</stream:stream> "
        let accept = "jabber:component:accept"
        let ping = XMLElement("ping", namespace: "urn:xmpp:ping")
        let iq = XMLElement("iq", namespace: accept, attributes: ["type": "get", "id": "a&b"], children: [ping])
        var header = XMLElement("stream", namespace: XMPPStream.namespace)
        header.attributes = ["xmlns": accept, "from": "push.example.org", "id": "3BF96D32"]
        let expected: [XMPPStreamEvent] = [
            .streamStart(header), .stanza(XMLElement("handshake", namespace: accept)), .stanza(iq), .streamEnd,
        ]
        #expect(try self.events(text, piece: piece) == expected)
    }

    @Test func prefixesAreResolvedWhereTheyAreDeclared() throws {
        let children = "<c/><a:d xmlns:a='urn:2'/><e xmlns='urn:3'><f/></e><a:g/>"
        let text = "<a:b xmlns:a='urn:1' a:x='0' xml:lang='en' y='1'>\(children)</a:b>"
        let stanza = try #require(try self.stanza(text))
        #expect(stanza.has("b", "urn:1"))
        #expect(stanza.attributes == ["xml:lang": "en", "y": "1"])
        #expect(stanza.children.map(\.namespace) == ["jabber:component:accept", "urn:2", "urn:3", "urn:1"])
        #expect(stanza.child("e", "urn:3")?.children.first?.namespace == "urn:3")
    }

    @Test func charactersAreWhatTheyStandFor() throws {
        let text = "<a b='&lt;&#x41;&#66;\t&#9;'>x\r\ny\r&quot;&apos;&gt;<c/>]]&gt;<![CDATA[<&amp;]]]>é</a>"
        let stanza = try #require(try self.stanza(text))
        #expect(stanza["b"] == "<AB \t")
        #expect(stanza.text == "x\ny\n\"'>]]><&amp;]é")
    }

    @Test(arguments: [
        "<!DOCTYPE a [<!ENTITY b '&b;'>]>", "<a><!-- x --></a>", "<a><?php x?></a>", "<?xml version='1.0'?>",
        "<a>&b;</a>",
        "<a b='&c;'/>", "<!-- x -->",
    ])
    func whatXMPPRestrictsIsRefused(text: String) {
        #expect(self.condition(text) == .restrictedXML)
    }

    @Test func aDocumentTypeInPlaceOfTheStreamIsRefused() {
        #expect(self.condition("<!DOCTYPE a [<!ENTITY b \"c\">]><a/>", afterHeader: false) == .restrictedXML)
    }

    @Test(arguments: [
        "<a></b>", "<a", "<a b/>", "<a b=c/>", "<a b='1' b='2'/>", "<a b='1'c='2'/>", "<1/>", "< a/>", "<a:b:c/>",
        "<a><</a>",
        "<a b='<'/>", "<a>&#0;</a>", "<a>&#xD800;</a>", "<a>&#+65;</a>", "<a>&</a>", "<a>&#65</a>", "<a>\u{1}</a>",
        "<a>]]></a>",
        "</a>", "<a xmlns:b=''/>", "<a xmlns:xml='urn:x'/>", "</stream:stream x='1'>", "<a/ >",
    ])
    func whatIsNotWellFormedIsRefused(text: String) {
        // What has merely not ended yet is refused with what follows.
        #expect(self.condition(text + "<end></end>") == .notWellFormed)
    }

    @Test func aPrefixThatIsNotDeclaredIsRefused() {
        #expect(self.condition("<a:b/>") == .badNamespacePrefix)
        #expect(self.condition("<b a:c='1'/>") == .badNamespacePrefix)
        #expect(self.condition("<a:b xmlns:a='urn:1'/><a:b/>") == .badNamespacePrefix)
    }

    @Test func textBetweenStanzasIsRefused() {
        #expect(self.condition("x") == .badFormat)
        #expect(self.condition("<a/>x<b/>") == .badFormat)
        #expect(self.condition(" <![CDATA[x]]>") == .badFormat)
    }

    @Test func whatIsNoStreamIsRefused() {
        #expect(self.condition("<html>", afterHeader: false) == .invalidNamespace)
        #expect(self.condition("<stream/>", afterHeader: false) == .badFormat)
        #expect(self.condition("HTTP/1.1 400 Bad Request\r\n", afterHeader: false) == .badFormat)
        let latin = "<?xml version='1.0' encoding='ISO-8859-1'?>"
        #expect(self.condition(latin, afterHeader: false) == .unsupportedEncoding)
        #expect(self.condition("<?xml-stylesheet href='x'?>", afterHeader: false) == .restrictedXML)
    }

    @Test func bytesThatAreNotUTF8AreRefused() throws {
        var parser = XMPPStreamParser()
        let bytes = Array((Self.header + "<a>").utf8) + [0xc3, 0x28] + Array("</a>".utf8)
        #expect(throws: XMPPStreamError(.badFormat, "it is not UTF-8")) { try Self.feed(&parser, bytes) }
    }

    @Test func depthIsLimited() throws {
        let deepest = String(repeating: "<a>", count: 32) + String(repeating: "</a>", count: 32)
        #expect(self.condition(deepest) == nil)
        #expect(self.condition("<a>\(deepest)</a>") == .policyViolation)
    }

    @Test func countsAreLimited() {
        let attributes = { (count: Int) in "<a" + (0..<count).map { " b\($0)='1'" }.joined() + "/>" }
        #expect(self.condition(attributes(64)) == nil)
        #expect(self.condition(attributes(65)) == .policyViolation)
        #expect(self.condition("<\(String(repeating: "a", count: 257))/>") == .policyViolation)
        let prefixes = (0..<65).map { " xmlns:a\($0)='urn:1'" }.joined()
        #expect(self.condition("<a\(prefixes)/>") == .policyViolation)
        #expect(self.condition("<a>" + String(repeating: "<b/>", count: 999) + "</a>") == nil)
        #expect(self.condition("<a>" + String(repeating: "<b/>", count: 1000) + "</a>") == .policyViolation)
    }

    @Test func aStanzaThatIsTooLongIsRefusedBeforeItsEnd() throws {
        var parser = XMPPStreamParser(maximumStanza: 1000)
        _ = try Self.feed(&parser, Array(Self.header.utf8))
        let endings = ["<a>" + String(repeating: "x", count: 1000), "<a b='" + String(repeating: "x", count: 1000)]
        for text in endings {
            var one = parser
            let error = #expect(throws: XMPPStreamError.self) { try Self.feed(&one, Array(text.utf8)) }
            #expect(error?.condition == .policyViolation)
        }
        // White space between stanzas is none of a stanza, and every stanza has the limit for itself.
        let stanza = "<a>\(String(repeating: "x", count: 900))</a>"
        let text = String(repeating: " ", count: 5000) + stanza + stanza + stanza
        #expect(try Self.feed(&parser, Array(text.utf8)).count == 3)
    }

    @Test func aHeaderThatIsTooLongIsRefused() {
        let text = "<stream:stream a='" + String(repeating: "x", count: 20_000)
        #expect(self.condition(text, afterHeader: false) == .policyViolation)
    }

    @Test func anErrorIsFinal() throws {
        var parser = XMPPStreamParser()
        let bytes = Array((Self.header + "<a></b>").utf8)
        let error = #expect(throws: XMPPStreamError.self) { try Self.feed(&parser, bytes) }
        #expect(error?.condition == .notWellFormed)
        #expect(throws: XMPPStreamError.self) { try parser.next() }
        #expect(throws: XMPPStreamError.self) { try parser.receive(Array("<a/>".utf8)) }
    }

    @Test func whatFollowsTheEndIsIgnored() throws {
        #expect(try self.events(Self.header + "</stream:stream><a/>").count == 2)
    }
}
