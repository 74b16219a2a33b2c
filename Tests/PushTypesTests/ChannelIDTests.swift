import PushTypes
import Testing

@Suite struct ChannelIDTests {
    @Test(arguments: ["dGVzdC0x", "a+b/c==", "a-b_c"])
    func base64IsAnID(text: String) {
        #expect(ChannelID(text)?.text == text)
    }

    @Test(arguments: ["", "a b", "a\r\nb", "é", String(repeating: "a", count: 257)])
    func otherTextIsNone(text: String) {
        #expect(ChannelID(text) == nil)
    }
}
