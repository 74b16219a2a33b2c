import Testing

@testable import ProviderAPI

@Suite struct FormAccessTests {
    @Test func formAccessNeedsAValidKey() {
        typealias Access = CompatibilityConfiguration.FormAccess
        #expect(Access(key: nil) == nil)
        #expect(Access(key: "short") == nil)
        #expect(Access(key: "0123456789abcde/") == nil)
        #expect(Access(key: nil, accounts: [""]) == nil)
        #expect(Access(key: "0123456789abcdef")?.allows(key: "0123456789abcdef") == true)
        #expect(Access(key: "0123456789abcdef")?.allows(key: "0123456789abcdeg") == false)
        #expect(Access(key: nil, accounts: ["ABC"])?.allows(account: "abc") == true)
        #expect(Access(key: nil, accounts: ["ABC"])?.allows(key: "abc") == false)
    }

    @Test func thePageEscapesWhatItShows() {
        let html = NotifyFormPage.html(#"<script>"&'"#)
        #expect(html.contains("&lt;script&gt;&quot;&amp;&#39;"))
        #expect(!html.contains("<script"))
        // An Arabic number sign joins what follows it to one character.
        let joined = NotifyFormPage.escaped("\u{600}<script>\u{600}&\u{600}\"\u{301}")
        #expect(
            Array(joined.unicodeScalars)
                == Array("\u{600}&lt;script&gt;\u{600}&amp;\u{600}&quot;\u{301}".unicodeScalars)
        )
    }
}
