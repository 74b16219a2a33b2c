import PushSupport
import Testing

@Suite struct PercentEncodingTests {
    @Test(
        arguments: [
            ("", ""), ("aZ09-._~", "aZ09-._~"), ("a b/c?d=e&f*", "a%20b%2Fc%3Fd%3De%26f%2A"), ("é\0", "%C3%A9%00"),
            ("\u{10FFFF}", "%F4%8F%BF%BF"),
        ]
    )
    func onlyUnreservedCharactersStay(text: String, encoded: String) {
        #expect(PercentEncoding.component(text) == encoded)
    }
}
