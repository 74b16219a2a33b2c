import Testing

@testable import PushBridges

@Suite struct XMLWritingTests {
    @Test func theNamespaceOfTheParentIsNotRepeated() {
        let child = XMLElement("a", namespace: "urn:xmpp:ping")
        let ping = XMLElement("ping", namespace: "urn:xmpp:ping", children: [child])
        let iq = XMLElement("iq", namespace: "jabber:client", attributes: ["type": "get", "id": "1"], children: [ping])
        #expect(iq.xml(in: "jabber:client") == "<iq id='1' type='get'><ping xmlns='urn:xmpp:ping'><a/></ping></iq>")
        #expect(iq.xml().hasPrefix("<iq xmlns='jabber:client' id='1'"))
    }

    @Test func nothingInTextHasAMeaning() {
        let text = "<a b='\"&\u{0}]]>\r"
        let element = XMLElement("a", namespace: "", attributes: ["b": text], text: text)
        let escaped = "&lt;a b=&apos;&quot;&amp;\u{fffd}]]&gt;&#13;"
        #expect(element.xml() == "<a b='\(escaped)'>\(escaped)</a>")
    }

    @Test func aStreamErrorIsWrittenAndRead() {
        let error = XMPPStreamError(.policyViolation, "it is too long")
        let text = "<stream:error><policy-violation xmlns='urn:ietf:params:xml:ns:xmpp-streams'/></stream:error>"
        #expect(error.element.xml(in: "jabber:component:accept") == text)
        #expect(XMPPStreamError(error.element) == XMPPStreamError(.policyViolation))
        #expect(XMPPStreamError(XMLElement("error", namespace: "jabber:client")) == nil)
    }

    @Test func theOpeningOfAStream() {
        let text = XMPPStream.opening(content: "jabber:client", attributes: ["to": "a'b", "version": "1.0"])
        let expected = """
            <?xml version='1.0'?><stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' \
            to='a&apos;b' version='1.0'>
            """
        #expect(text == expected)
    }
}
