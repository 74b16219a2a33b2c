import PushSupport
import PushTesting
import Testing

@testable import PushProvider

/// The reader of small XML documents, and what it refuses.
@Suite(.timeLimit(.patience)) struct XMLReaderTests {
    private func events(_ text: String) throws -> [XMLReader.Event] {
        var reader = try XMLReader(Array(text.utf8))
        var events: [XMLReader.Event] = []
        while let event = try reader.next() { events.append(event) }
        return events
    }

    @Test func aDocumentIsReadInParts() throws {
        let text = """
            \u{feff}<?xml version="1.0" encoding='UTF-8' standalone="yes"?>
            <!-- an answer --> <result httpResponseCode="200" note='a &quot;b&quot;'>
              <entitlements><productId>a&lt;b&gt;c&amp;amp;&apos;</productId><none/><x ></x ></entitlements>
              <![CDATA[<raw> & ]]]]><!-- -- ><![CDATA[>]]>
            </result > \n
            """
        #expect(
            try self.events(text.replacing("<!-- -- >", with: "<!-- - -->")) == [
                .start("result", attributes: ["httpResponseCode": "200", "note": #"a "b""#]),
                .start("entitlements", attributes: [:]), .start("productId", attributes: [:]),
                .text("a<b>c&amp;'"), .end("productId"), .start("none", attributes: [:]), .end("none"),
                .start("x", attributes: [:]), .end("x"), .end("entitlements"), .text("\n  <raw> & ]]>\n"),
                .end("result"),
            ]
        )
    }

    @Test(arguments: [
        "", " ", "text", "<a>", "<a></b>", "<a></a><b></b>", "<a></a>text", "</a>", "<a><b></a></b>", "<", "<a", "<a/",
        "<a b></a>", "<a b=c></a>", "<a b='c></a>", "<a b='<'></a>", "<a b='1' b='2'></a>", "<a b='1'c='2'></a>",
        "<a>&nbsp;</a>", "<a>&#65;</a>", "<a>&#x41;</a>", "<a>&amp</a>", "<a>&;</a>", "<a>&</a>", "<a>&a", "<1a></1a>",
        "<a><!-- </a>", "<a><![CDATA[ </a>", "<![CDATA[x]]><a></a>", "<a><?php echo 1 ?></a>", "<?php ?><a></a>",
        "<!DOCTYPE a><a></a>", "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "<a><!ENTITY b 'c'></a>", "<a>\u{0}</a>",
        "<?xml version='1.0' encoding='ISO-8859-1'?><a></a>", "<?xml version='1.0' encoding='UTF-16'?><a></a>", "<?xml",
        "<ä></ä>", "< a></a>", "<a></ a>", "<?xml?><a></a>",
    ])
    func whatIsNotWellFormedIsRefused(text: String) {
        #expect(throws: XMLFault.self) { try self.events(text) }
    }

    @Test func entityBombsAreRefusedUnread() {
        let lols = (1...9).map { #"<!ENTITY lol\#($0) "\#(String(repeating: "&lol\($0 - 1);", count: 10))">"# }
        let bomb = #"<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY lol0 "lol">\#(lols.joined())]><lolz>&lol9;</lolz>"#
        #expect(throws: XMLFault(.restricted, "document types and entities are not allowed")) { try self.events(bomb) }
        let file = #"<!DOCTYPE foo [<!ENTITY xxe SYSTEM "file:///etc/passwd">]><foo>&xxe;</foo>"#
        #expect(throws: XMLFault.self) { try self.events(file) }
    }

    @Test func everythingHasALimit() throws {
        let (depth, count) = (XMLReader.maximumDepth, XMLReader.maximumAttributes)
        func nested(_ depth: Int) -> String {
            String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth)
        }
        #expect(try self.events(nested(depth)).count == 2 * depth)
        #expect(throws: XMLFault.self) { try self.events(nested(depth + 1)) }
        func attributes(_ count: Int) -> String { "<a" + (0..<count).map { " b\($0)='c'" }.joined() + "/>" }
        #expect(try self.events(attributes(count)).count == 2)
        #expect(throws: XMLFault.self) { try self.events(attributes(count + 1)) }
        let name = String(repeating: "n", count: XMLReader.maximumName)
        #expect(try self.events("<\(name)/>").count == 2)
        #expect(throws: XMLFault.self) { try self.events("<\(name)n/>") }
        let filler = String(repeating: "x", count: XMLReader.maximumLength - 7)
        #expect(try self.events("<a>\(filler)</a>").count == 3)
        #expect(throws: XMLFault.self) { try self.events("<a>\(filler)x</a>") }
        #expect(throws: XMLFault.self) { _ = try XMLReader([0x3c, 0xff, 0x3e]) }
    }
}
