import PushSupport
import Testing

@Suite struct OpenFileLimitTests {
    @Test func itIsRaisedToTheHighest() throws {
        let before = try #require(OpenFileLimit.present)
        let raised = try #require(OpenFileLimit.raise())
        #expect(raised == before.highest && raised >= before.now)
        let after = try #require(OpenFileLimit.present)
        #expect(after.now == raised && after.highest == before.highest)
        // A second time changes nothing.
        #expect(OpenFileLimit.raise() == raised)
    }
}
