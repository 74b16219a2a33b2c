import Testing

@testable import MartletKit

@Suite("Receipt events") struct ReceiptEventTests {
    @Test("The names are those of the API")
    func names() {
        let names = ReceiptEvent.allCases.map(\.rawValue)
        #expect(names == ["delivered", "shown", "opened", "dismissed", "action", "converted"])
    }
}
