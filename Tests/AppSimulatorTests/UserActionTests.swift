import AppSimulator
import Testing

@Suite("Actions of the user") struct UserActionTests {
    @Test("Two actions are equal with the same entry only")
    func equality() {
        #expect(UserAction.open(entry: 1) != .open(entry: 2))
    }
}
