import Foundation
import PushTypes
import Testing

@Suite struct PushNotificationTests {
    @Test func eachNotificationHasAnIDOfItsOwn() throws {
        let topic = try #require(Topic("com.example.MyApp"))
        let first = PushNotification(topic: topic, payload: "{}")
        let second = PushNotification(topic: topic, payload: "{}")
        #expect(first.id != second.id)
        #expect(UUID(uuidString: first.id)?.uuidString.lowercased() == first.id)
    }
}
