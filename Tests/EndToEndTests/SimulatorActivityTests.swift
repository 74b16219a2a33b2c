import AppSimulator
import Foundation
import PushSupport
import PushTesting
import Testing

/// What reaches a simulated phone besides plain alerts: Live Activities, and attachments.
@Suite("Live Activities and attachments of a simulated phone", .timeLimit(.patience))
struct SimulatorActivityTests {
    private static func start(_ attributes: JSONValue) -> [String: JSONValue] {
        [
            "liveActivity": [
                "event": "start", "attributesType": "Order", "attributes": attributes, "contentState": ["stop": 3],
            ], "alert": "Your order",
        ]
    }

    private static func event(_ name: String, _ more: [String: JSONValue] = [:]) -> [String: JSONValue] {
        let members: [String: JSONValue] = ["event": .string(name), "contentState": ["stop": 1]]
        return ["liveActivity": .object(members.merging(more) { $1 })]
    }

    @Test("A Live Activity starts, is updated, gets stale and ends, and then the next one can start")
    func life() async throws {
        try await withLoop { loop in
            try await loop.withPhone { phone in
                try await phone.run("wait registered")
                _ = try await phone.send(Self.start(["id": "order-42"]), to: ["all": true])
                try await phone.run("wait activity", "wait registered")
                #expect(phone.events(.registered).last?.members["kinds"] == ["liveActivityUpdate order-42"])
                let past = JSONValue.integer(Int64(Date().timeIntervalSince1970) - 1)
                let update = try await phone.send(
                    Self.event("update", ["staleDate": past]),
                    to: ["activity": "order-42"]
                )
                try await phone.run("wait activity 2")
                #expect(try await loop.provider.finished(update)["counters"]["accepted"] == 1)
                _ = try await phone.send(Self.event("end", ["dismissalDate": past]), to: ["activity": "order-42"])
                try await phone.run("wait activity 2", "wait registered")
                let changes = phone.events(.activity).map { $0.members["change"] }
                #expect(changes == ["started", "updated", "stale", "ended", "removed"])
                #expect(phone.events(.activity).last?.members["contentState"] == ["stop": 1])
                _ = try await phone.send(Self.start([:]), to: ["all": true])
                try await phone.run("wait activity", "wait registered")
                #expect(try await phone.status()["activityTokenKind"] == "liveActivityUpdate Order-2")
                let alert = try await phone.send(["alert": "Hi"], to: ["all": true])
                try await phone.run("wait shown")
                #expect(try await loop.provider.finished(alert)["recipients"] == 1)
                #expect(phone.events(.problem).isEmpty)
            }
        }
    }

    @Test("A running Live Activity is still updated after a restart of the phone")
    func restart() async throws {
        try await withLoop { loop in
            try await withTemporaryDirectory { folder in
                try await loop.withPhone(in: folder) { phone in
                    try await phone.run("wait registered")
                    _ = try await phone.send(Self.start(["id": "a"]), to: ["all": true])
                    try await phone.run("wait activity", "wait registered")
                }
                try await loop.withPhone(in: folder) { phone in
                    try await phone.run("wait registered")
                    _ = try await phone.send(Self.event("update"), to: ["activity": "a"])
                    try await phone.run("wait activity")
                }
            }
        }
    }

    @Test("The file of an attachment is there as long as its notification")
    func attachment() async throws {
        let image = "HTTP/1.1 200 OK\r\nContent-Type: image/gif\r\nContent-Length: 6\r\nConnection: close\r\n\r\nGIF89a"
        let server = try await TestProxy.start(.answer(image))
        try await withLoop { loop in
            try await loop.withPhone { phone in
                try await phone.run("wait registered")
                let content: [String: JSONValue] = [
                    "alert": "A photo", "mutableContent": true,
                    "data": ["attachment": .string("http://127.0.0.1:\(server.port)/1.gif")],
                ]
                var files: [String] = []
                for _ in 1...2 {
                    _ = try await phone.send(content, to: ["all": true])
                    try await phone.run("wait shown")
                    files.append(try #require(phone.events(.shown).last?.members["attachment"]?.stringValue))
                }
                #expect(files.allSatisfy { FileManager.default.fileExists(atPath: $0) })
                try await phone.run("dismiss 1")
                #expect(files.map { FileManager.default.fileExists(atPath: $0) } == [false, true])
                try await phone.run("open 2")
                #expect(!FileManager.default.fileExists(atPath: files[1]))
            }
        }
        await server.stop()
    }
}
