import Foundation
import ProviderModel
import Testing

@testable import PushProvider

@Suite struct DeliveryIDTests {
    let notification = UUID(uuidString: "6F1C0A2B-9D3E-4ABC-9123-456789ABCDEF")

    @Test(arguments: [1, 42, -1, -1000, Int64(1) << 60, 0])
    func anIDLeadsBackToItsDelivery(recipient: Int64) throws {
        let notification = try #require(self.notification)
        let text = DeliveryID(notification: notification).text(recipient: recipient)
        #expect(UUID(uuidString: text)?.uuidString.lowercased() == text)
        #expect(text.hasPrefix("6f1c0a2b-9d3e-8abc-"))
        for spelling in [text, text.uppercased()] {
            let (prefix, parsed) = try #require(DeliveryID.parse(spelling))
            #expect(prefix == DeliveryPrefix(of: notification))
            #expect(parsed == recipient)
        }
    }

    @Test func theFormIsStable() throws {
        let notification = try #require(self.notification)
        #expect(DeliveryID(notification: notification).text(recipient: 42) == "6f1c0a2b-9d3e-8abc-8000-00000000002a")
    }

    @Test(arguments: ["", "nonsense", "6f1c0a2b-9d3e-4abc-8000-00000000002a", "6f1c0a2b-9d3e-8abc-0000-00000000002a"])
    func otherIDsAreNotOurs(text: String) {
        #expect(DeliveryID.parse(text) == nil)
    }
}
