import Testing

@testable import MartletKit

@Suite("Receipt events") struct ReportedEventTests {
    @Test("The names are those of the API")
    func names() {
        let names = ReportedEvent.allCases.map(\.rawValue)
        #expect(names == ["delivered", "shown", "opened", "dismissed", "action", "converted"])
    }
}
