import Foundation
import Testing

@testable import MartletKit

@Suite("Received notifications") struct ReceivedNotificationTests {
    private static let id = "0A1B2C3D-0000-4000-8000-00000000000F"
    private static let text = """
        {"aps":{"alert":{"title":"Hello","subtitle":"from","body":"Ann"},"badge":3,"sound":{"name":"ding","volume":1},
        "category":"MAIL","thread-id":"t1","content-available":1,"mutable-content":1,"interruption-level":"time-sensitive"},
        "martlet":{"id":"\(id)","receipts":"counts"},"class":"order","property":{"id":42},"big":9007199254740993,"yes":true}
        """

    @Test("Every member is read")
    func whole() throws {
        let notification = try #require(ReceivedNotification(json: Data(Self.text.utf8)))
        #expect(notification.id == UUID(uuidString: Self.id))
        #expect(notification.receipts == .counts)
        #expect(notification.title == "Hello" && notification.subtitle == "from" && notification.body == "Ann")
        #expect(notification.badge == 3 && notification.sound == "ding")
        #expect(notification.category == "MAIL" && notification.threadID == "t1")
        #expect(notification.interruptionLevel == .timeSensitive)
        #expect(notification.wakesApp && notification.isMutable && notification.isVisible)
        let data: [String: JSONValue] = [
            "class": "order", "property": .object(["id": 42]), "big": 9_007_199_254_740_993, "yes": true,
        ]
        #expect(notification.data == data)
    }

    @Test("The dictionary of the system reads like the text")
    func userInfo() throws {
        let object = try JSONSerialization.jsonObject(with: Data(Self.text.utf8))
        let userInfo = try #require(object as? [AnyHashable: Any])
        #expect(ReceivedNotification(userInfo: userInfo) == ReceivedNotification(json: Data(Self.text.utf8)))
        let native: [AnyHashable: Any] = [
            "aps": ["alert": "Hi", "badge": 1] as [String: Any], "flag": true, "one": 1, "half": 0.5, "none": NSNull(),
            7: "x",
            "data": Data([1]), "list": [1, "a", [false]] as [Any],
        ]
        let notification = ReceivedNotification(userInfo: native)
        let numbers = ReceivedNotification(userInfo: [
            "large": NSNumber(value: UInt64.max), "small": NSNumber(value: UInt64(7)), "yes": NSNumber(value: true),
            "one": NSNumber(value: 1), "float": NSNumber(value: Float(0.5)),
        ]).data
        let expected: [String: JSONValue] = [
            "large": .number(Double(UInt64.max)), "small": 7, "yes": true, "one": 1, "float": 0.5,
        ]
        #expect(numbers == expected)
        #expect(notification.body == "Hi" && notification.badge == 1)
        let data: [String: JSONValue] = [
            "flag": true, "one": 1, "half": 0.5, "none": .null, "list": .array([1, "a", .array([false])]),
        ]
        #expect(notification.data == data)
    }

    @Test(
        "Members of another type are absent",
        arguments: [
            #"{"aps":7,"martlet":[]}"#,
            #"{"aps":{"alert":{"title":{},"body":[1]},"badge":"3","sound":4,"category":null}}"#,
            #"{"aps":{"alert":[],"badge":-1}}"#, #"{"aps":{"badge":99999999999999999999}}"#, #"{"aps":{"badge":1.5}}"#,
            #"{"martlet":{"id":"../../etc/passwd","receipts":"device"}}"#, #"{"martlet":{"id":7,"receipts":true}}"#,
            #"{"martlet":{"id":"0A1B2C3D-0000-4000-8000-00000000000F","receipts":"all","sealed":{"key":"","data":"AA=="}}}"#,
        ]
    )
    func wrongTypes(text: String) throws {
        let notification = try #require(ReceivedNotification(json: Data(text.utf8)))
        #expect(notification.title == nil && notification.body == nil && notification.badge == nil)
        #expect(notification.receipts == .none && !notification.isVisible)
        // Encrypted content that cannot be read must be reported, and so is not taken for none.
        #expect(notification.sealed == (text.contains("sealed") ? .malformed : nil))
    }

    @Test(
        "What is no JSON object of a bounded depth and size is no notification",
        arguments: [
            "", "[]", "7", "{", #"{"a":}"#, "null", #"{"a":"\#u{0}"}"#, String(repeating: "[", count: 100_000),
            String(repeating: #"{"a":"#, count: 40) + "1" + String(repeating: "}", count: 40),
            #"{"a":""# + String(repeating: "x", count: 300_000) + #""}"#,
            #"{"a":[0"# + String(repeating: ",0", count: 16383) + "]}",
        ]
    )
    func noNotification(text: String) {
        #expect(ReceivedNotification(json: Data(text.utf8)) == nil)
    }

    @Test("Changed bytes never crash")
    func garbage() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<3000 {
            var bytes = Array(Self.text.utf8)
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                bytes[Int.random(in: bytes.indices, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            bytes.removeLast(Int.random(in: 0...20, using: &generator))
            guard let notification = ReceivedNotification(json: Data(bytes)) else { continue }
            #expect(notification.badge.map { $0 >= 0 } ?? true)
        }
    }

    @Test("A dictionary that is too deep or too large loses what is beyond the bounds")
    func hugeUserInfo() {
        var nested: [AnyHashable: Any] = ["end": 1]
        for _ in 0..<5000 { nested = ["in": nested] }
        let many = Array(repeating: 1, count: 100_000)
        let notification = ReceivedNotification(userInfo: ["nested": nested, "many": many, "aps": ["alert": "x"]])
        #expect(notification.data["many"]?.array?.count ?? 0 < 20_000)
    }
}
