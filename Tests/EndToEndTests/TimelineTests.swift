import Foundation
import PushDevice
import PushGateway
import PushSupport
import PushTesting
import PushTypes
import Testing

/// The timeline of a push through provider, sender, gateway and device.
@Suite(.timeLimit(.patience)) struct TimelineTests {
    let time = ManualTime(SystemTime().now)

    @Test func aPushIsFollowedFromTheRequestToTheDevice() async throws {
        try await withLoop(time: self.time) { loop in
            try await loop.withDevice(try await loop.activate()) { device in
                let token = try await device.deviceToken(for: Vectors.bundleID, timeout: .patience)
                #expect(try await loop.provider.register(token, ["user": "alice"]).status == 201)
                let answer = try await loop.provider.send(["to": ["user": "alice"], "alert": "Hi"])
                let received = try #require(await device.next())
                _ = try await loop.provider.finished(answer)
                let apnsID = received.apnsID ?? ""
                var timeline = JSONValue.null
                var events: [String] = []
                // The gateway writes its last event after the device has the notification.
                while !events.contains("Delivered to Device") {
                    try Task.checkCancellation()
                    let response = try await loop.provider.api.get("/v1/timeline?apnsId=\(apnsID)")
                    timeline = response.json["timelines"].elements.first ?? .null
                    let steps = timeline["steps"].elements.filter { $0["source"] == "gateway" }
                    events = steps.compactMap { $0["text"].stringValue }
                }
                let steps = timeline["steps"].elements
                let sent = try #require(steps.first { $0["event"] == "sent" })
                #expect(sent["text"].stringValue?.contains("127.0.0.1:\(loop.gateway.addresses.main.http2)") == true)
                #expect(steps.contains { $0["event"] == "answered" && $0["source"] == "pushService" })
                #expect(timeline["notes"].elements.isEmpty)
                #expect(events.contains("Received by APNs"))
            }
        }
    }
}
