import PushSupport
import PushTypes
import Testing
import WebPages

@Suite struct PageTemplatesTests {
    private static func render(_ template: String, _ model: PageModel) throws -> String? {
        let languages = try PageLanguages([])
        let format = PageFormat(
            texts: languages.texts("en", acceptLanguage: nil),
            now: Timestamp(seconds: 1_700_000_000)
        )
        return try PageTemplates([.init("page", Array(template.utf8))]).render("page", model, format: format)
    }

    /// To Swift U+0600 and the scalar behind it are one character, and so are a quote and a combining mark behind it.
    @Test(arguments: ["\u{600}<b>", "<b>\u{301}", "\u{600}\"\u{301}>"])
    func noTextIsMarkup(_ text: String) throws {
        let page = try #require(try Self.render(#"<p title="{{text}}">{{text}}</p>"#, ["text": PageText(text)]))
        let inner = page.dropFirst(#"<p title=""#.count).dropLast("</p>".count).unicodeScalars
        #expect(inner.filter { $0 == "<" }.isEmpty)
        #expect(inner.filter { $0 == "\"" }.count == 1)
        #expect(inner.filter { $0 == ">" }.count == 1)
    }

    @Test func partsAndSectionsEscapeToo() throws {
        let model = PageValue.model([
            "items": .array([.object(["name": .string("<i>")]), .object(["name": .string("&")])])
        ])
        #expect(try Self.render("{{#items}}{{name}};{{/items}}", model) == "&lt;i&gt;;&amp;;")
        #expect(try Self.render("{{#at}}\n{{>time}}\n{{/at}}", ["at": PageText("<b>")])?.contains("<b>") == false)
    }

    @Test func emptyTextsAreEmptySections() throws {
        let model = PageValue.model(["name": .string(""), "none": .null, "flag": .bool(false), "zero": .integer(0)])
        #expect(
            try Self.render("{{^name}}a{{/name}}{{^none}}b{{/none}}{{^flag}}c{{/flag}}{{#zero}}d{{/zero}}", model)
                == "abcd"
        )
    }

    @Test(arguments: [
        (0.0, "0"), (1204, "1,204"), (-1_204_000, "−1,204,000"), (0.5, "0.5"), (12.345, "12.35"), (999, "999"),
    ])
    func numbersHaveSeparators(_ value: Double, _ text: String) throws {
        #expect(try Self.render("{{n}}", ["n": PageNumber(value: value)]) == text)
    }

    @Test func hugeNumbersAreShown() throws {
        for value in [Double.infinity, -.infinity, .nan, 1e300] {
            #expect(try Self.render("{{n}} {{bytes(n)}} {{duration(n)}}", ["n": PageNumber(value: value)]) != nil)
        }
    }

    @Test func timesAreRelative() throws {
        let model: PageModel = ["at": PageText("2023-11-14T22:10:20Z")]
        #expect(try Self.render("{{ago(at)}} {{local(at)}}", model) == "3 min ago 2023-11-14 22:10:20 UTC")
        #expect(try Self.render("{{ago(at)}}", ["at": PageText("2023-11-14T22:13:20.500Z")]) == "now")
        #expect(try Self.render("{{ago(at)}}", ["at": PageText("2023-11-17T22:13:20Z")]) == "in 3 d")
        #expect(try Self.render("{{ago(at)}}", ["at": PageText("garbage")]) == "garbage")
    }

    @Test func everyLanguageHasAllTexts() throws {
        let languages = try PageLanguages([])
        #expect(languages.all == ["de", "en"])
        #expect(languages.texts("de", acceptLanguage: nil)["layout.signOut"] == "Abmelden")
        #expect(languages.texts(nil, acceptLanguage: "fr-CH, de;q=0.9, en;q=0.8").language == "de")
        #expect(languages.texts(nil, acceptLanguage: nil).language == "en")
        for refused in ["de;q=0", "de; q=0.000", "de;q=x", "de;q=0.5, en", "en;q=0.9,de;q=0.1"] {
            #expect(languages.texts(nil, acceptLanguage: refused).language == "en", "\(refused)")
        }
        for wanted in ["de", "DE-at;q=0.1", "en;q=0.2, de;q=0.9", "en;q=0, de"] {
            #expect(languages.texts(nil, acceptLanguage: wanted).language == "de", "\(wanted)")
        }
    }
}
