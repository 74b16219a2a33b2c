import AppSimulator
import Foundation
import PushDevice
import PushSupport
import PushTesting
import Testing

/// What the user of a simulated phone wants, and what nobody else can read.
@Suite("Encrypted content and preferences of a simulated phone", .timeLimit(.patience))
struct SimulatorPreferenceTests {
    @Test("Encrypted content is shown decrypted, and only the placeholder is on the wire")
    func encrypted() async throws {
        try await withLoop { loop in
            try await withTemporaryDirectory { folder in
                let content: [String: JSONValue] = [
                    "alert": ["title": "Result", "body": "It is negative"], "encrypted": true,
                    "placeholder": ["title": "You have a message"],
                    "data": ["class": "Order", "property": ["id": 7]],
                ]
                try await loop.withPhone(in: folder) { phone in
                    try await phone.run("wait registered")
                    _ = try await phone.send(content, to: ["all": true])
                    try await phone.run("wait extension", "wait shown", "open", "wait screen")
                    let entry = try #require(phone.events(.shown).first)
                    #expect(entry.members["title"] == "Result" && entry.members["body"] == "It is negative")
                    #expect(phone.events(.extension).first?.members["changes"] == ["decrypted"])
                    #expect(phone.events(.screen).first?.members["values"] == ["id": 7])
                }
                // The same device without the app sees what the gateway has.
                let data = try Data(contentsOf: URL(filePath: "\(folder)/device.json"))
                let identity = try JSONDecoder().decode(DeviceIdentity.self, from: data)
                try await loop.withDevice(identity) { device in
                    _ = try await device.deviceToken(for: Vectors.bundleID, timeout: .patience)
                    let answer = try await loop.provider.send(
                        .object(content.merging(["to": ["all": true]]) { $1 })
                    )
                    #expect(answer.status == 202)
                    let received = try #require(await device.next())
                    let text = String(decoding: received.payload, as: UTF8.self)
                    #expect(text.contains("You have a message") && text.contains("sealed"))
                    #expect(!text.contains("negative") && !text.contains("Result") && !text.contains("Order"))
                }
            }
        }
    }

    @Test("Nobody gets what they have opted out of")
    func optOut() async throws {
        try await withLoop { loop in
            try await loop.withPhone { phone in
                try await phone.run("wait registered", "optout marketing", "wait registered")
                let skipped = try await phone.send(["alert": "ad", "consentCategory": "marketing"], to: ["all": true])
                #expect(try await loop.provider.finished(skipped)["counters"]["skipped"] == 1)
                try await phone.run("optin marketing", "wait registered")
                _ = try await phone.send(["alert": "ad", "consentCategory": "marketing"], to: ["all": true])
                try await phone.run("wait shown")
            }
        }
    }
}
