import PushTypes
import Testing

@Suite struct PushTests {
    @Test(arguments: [
        ("", "v"), ("a b", "v"), (":path", "v"), ("x", "a\r\nb"), ("x", "\u{0}"), ("x", "é"), ("x", " v"), ("x", "v\t"),
        ("Connection", "close"), ("content-length", "1"), ("te", "gzip"),
    ])
    func headerFieldsThatWouldBreakARequestAreRejected(name: String, value: String) {
        #expect(HeaderField(name: name, value: value) == nil)
    }
}
