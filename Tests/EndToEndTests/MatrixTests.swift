import Foundation
import PushBridges
import PushDevice
import PushSupport
import PushTesting
import PushTypes
import Testing

/// A Matrix homeserver's requests, through provider and gateway, to a phone.
@Suite(.timeLimit(.patience)) struct MatrixTests {
    /// Certificates are checked by the system's clock, so the manual one starts there.
    let time = ManualTime(SystemTime().now)

    private static let appID = "com.example.MyApp.ios.dev"
    private static let app = "/v1/apps/\(Vectors.bundleID)"

    private static func notify(_ loop: RunningLoop, _ event: String, _ pushkey: String) async throws
        -> JSONClient.Response
    {
        let extensionRuns: JSONValue = ["aps": ["mutable-content": 1, "alert": ["loc-key": "Notification"]]]
        let device: JSONValue = [
            "app_id": .string(Self.appID), "pushkey": .string(pushkey), "data": ["default_payload": extensionRuns],
        ]
        let homeserver = JSONClient(baseURL: loop.provider.api.baseURL)
        let notification: JSONValue = ["event_id": .string(event), "room_id": "!r:x", "devices": [device]]
        return try await homeserver.post("/_matrix/push/v1/notify", ["notification": notification])
    }

    /// Waits until the provider has so many notifications, all of which have ended.
    private static func ended(_ loop: RunningLoop, _ count: Int) async throws {
        while true {
            let all = try await loop.provider.api.get("\(Self.app)/notifications").json["notifications"].elements
            if all.count == count, all.allSatisfy({ $0["state"] == "done" }) { return }
            try Task.checkCancellation()
        }
    }

    @Test func anEventReachesThePhoneUntilTheAppIsRemoved() async throws {
        try await withLoop(time: self.time, addition: { try Bridges($0) }) { loop in
            try await loop.provider.api.put("\(Self.app)/bridges/matrix/\(Self.appID)", ["environment": "sandbox"])
            let identity = try await loop.activate()
            let pushkey = try await loop.withDevice(identity) { device in
                let token = try await device.deviceToken(for: Vectors.bundleID, timeout: .patience)
                let pushkey = Data(DeviceToken(hex: token)?.bytes ?? []).base64EncodedString()
                for _ in 1...2 { #expect(try await Self.notify(loop, "$1", pushkey).json == ["rejected": []]) }
                try await Self.notify(loop, "$2", pushkey).expect(200)
                var events: Set<String> = []
                for _ in 1...2 {
                    let received = try #require(await device.next())
                    let payload = try JSONValue(parsing: received.payload)
                    events.insert(payload["event_id"].stringValue ?? "")
                    #expect(payload["room_id"] == "!r:x")
                    #expect(payload["aps"]["alert"]["loc-key"] == "Notification")
                }
                #expect(events == ["$1", "$2"])
                return pushkey
            }
            try await Self.ended(loop, 2)
            let removal = "/v1/devices/\(identity.deviceID)/topics/\(Vectors.bundleID)?environment=sandbox"
            try await loop.gateway.admin.delete(removal).expect(204)
            // The push finds out, and the next event is the occasion to say so.
            #expect(try await Self.notify(loop, "$3", pushkey).json == ["rejected": []])
            try await Self.ended(loop, 3)
            #expect(try await Self.notify(loop, "$4", pushkey).json == ["rejected": [.string(pushkey)]])
            try await Self.ended(loop, 3)
        }
    }
}
