import PushProvider
import Testing

/// Ranges of requests for files (RFC 9110 section 14).
@Suite struct ByteRangeTests {
    @Test(arguments: [
        ("bytes=0-9", ByteRange.part(0..<10)), ("bytes=0-0", .part(0..<1)), ("bytes=90-", .part(90..<100)),
        ("bytes=-10", .part(90..<100)), ("bytes=-1000", .part(0..<100)), ("bytes=50-1000", .part(50..<100)),
        ("BYTES=1-2", .part(1..<3)), ("bytes= 1 - 2 ", .part(1..<3)),
        ("bytes=99-99999999999999999999", .part(99..<100)),
        ("bytes=100-", .unsatisfiable), ("bytes=100-200", .unsatisfiable), ("bytes=-0", .unsatisfiable),
        ("bytes=99999999999999999999-", .unsatisfiable), ("bytes=5-4", .whole), ("bytes=-", .whole), ("bytes=", .whole),
        ("bytes", .whole), ("", .whole), ("=0-1", .whole), ("items=0-1", .whole), ("bytes=0-1,3-4", .whole),
        ("bytes=a-b", .whole), ("bytes=0x1-2", .whole), ("bytes=1-2-3", .whole), ("bytes=+1-2", .whole),
        ("bytes=٣-٤", .whole), ("bytes=--1", .whole),
    ])
    func aFieldIsARange(field: String, range: ByteRange) {
        #expect(ByteRange(field, size: 100) == range)
    }

    @Test func withoutTheFieldItIsTheWhole() {
        #expect(ByteRange(nil, size: 100) == .whole)
    }
}
