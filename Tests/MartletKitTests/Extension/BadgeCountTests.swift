import Foundation
import Testing

@testable import MartletKit

@Suite("Badge") struct BadgeCountTests {
    private func notification(_ json: String) throws -> ReceivedNotification {
        try #require(ReceivedNotification(json: Data(json.utf8)))
    }

    @Test(
        "A change stays within 0 and the maximum, whatever is added",
        arguments: [
            (0, BadgeCount.Change.set(7), 7), (3, .increment(4), 7), (3, .increment(-1), 2), (3, .increment(-4), 0),
            (3, .increment(-4), 0), (3, .set(-1), 0), (0, .set(.max), 99_999), (99_999, .increment(1), 99_999),
            (5, .increment(.max), 99_999), (5, .increment(.min), 0), (5, .increment(-.max), 0),
            (0, .set(.min), 0),
        ]
    )
    func arithmetic(number: Int, change: BadgeCount.Change, expected: Int) {
        #expect(BadgeCount.applying(change, to: number) == expected)
    }

    @Test("A notification sets the number, or changes it, or leaves it")
    func notifications() throws {
        let count = BadgeCount(storage: MemoryStorage())
        #expect(try count.apply(self.notification(#"{"aps":{"alert":"x"}}"#)) == nil)
        #expect(try count.apply(self.notification(#"{"aps":{},"badgeChange":3}"#)) == 3)
        #expect(try count.apply(self.notification(#"{"aps":{},"badgeChange":-1}"#)) == 2)
        #expect(try count.apply(self.notification(#"{"aps":{"badge":9},"badgeChange":3}"#)) == 9)
        #expect(try count.apply(self.notification(#"{"aps":{},"badgeChange":-9223372036854775808}"#)) == 0)
        for garbage in ["\"3\"", "1.5", "true", "{}", "[1]", "null"] {
            #expect(try count.apply(self.notification(#"{"aps":{},"badgeChange":\#(garbage)}"#)) == nil)
        }
        #expect(try count.current() == 0)
        #expect(try count.apply(.set(4)) == 4)
        #expect(try count.current() == 4)
    }

    @Test("A stored value that is no number counts as 0", arguments: ["", "x", "99999999999999999999", "-3", "\u{0}"])
    func damage(text: String) throws {
        let count = BadgeCount(storage: MemoryStorage(["badge-1": Data(text.utf8)]))
        let number = try count.current()
        #expect((0...BadgeCount.maximum).contains(number))
        #expect(try count.apply(.increment(1)) <= BadgeCount.maximum)
    }

    @Test("App and extension lose no change of each other")
    func together() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "martlet-badge-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    let count = BadgeCount(storage: try FolderStorage(folder: folder))
                    for _ in 0..<25 { try count.apply(.increment(1)) }
                }
            }
            try await group.waitForAll()
        }
        let storage = try FolderStorage(folder: folder)
        #expect(try BadgeCount(storage: storage).current() == 100)
        #expect(try storage.names().count <= 20)
    }
}
