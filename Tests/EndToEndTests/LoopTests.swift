import Foundation
import PushDevice
import PushSupport
import PushTesting
import PushTypes
import Testing

@Suite(.timeLimit(.patience)) struct LoopTests {
    /// Certificates are checked by the system's clock, so the manual one starts there.
    let time = ManualTime(SystemTime().now)

    @Test func aNotificationReachesAConnectedDevice() async throws {
        try await withLoop(time: self.time) { loop in
            try await loop.withDevice(try await loop.activate()) { device in
                let token = try await device.deviceToken(for: Vectors.bundleID, timeout: .patience)
                #expect(try await loop.provider.register(token, ["user": "alice"]).status == 201)
                let answer = try await loop.provider.send(["to": ["user": "alice"], "alert": "Hi"])
                #expect(answer.status == 202)
                let received = try #require(await device.next())
                #expect(received.payload == Data(Vectors.payload.utf8))
                #expect(received.deviceToken == token)
                #expect(received.topic == Vectors.bundleID)
                #expect(try await loop.provider.finished(answer)["counters"]["accepted"] == 1)
                let delivery = try #require(try await loop.provider.deliveries(answer).first)
                #expect(delivery["state"] == "accepted")
                #expect(delivery["apnsId"].stringValue == received.apnsID)
            }
        }
    }

    @Test func theNewestNotificationWaitsForADeviceThatIsAway() async throws {
        try await withLoop(time: self.time) { loop in
            let identity = try await loop.activate()
            let token = try await loop.token(identity)
            for body in ["first", "second"] {
                let answer = try await loop.provider.send([
                    "to": ["tokens": [.string(token)]], "alert": .string(body), "environment": "sandbox",
                ])
                #expect(try await loop.provider.finished(answer)["counters"]["accepted"] == 1)
            }
            try await loop.withDevice(identity) { device in
                _ = try await device.deviceToken(for: Vectors.bundleID, timeout: .patience)
                #expect(await device.next()?.body == "second")
                // Had "first" been kept, it would come before this one.
                try await loop.provider.send([
                    "to": ["tokens": [.string(token)]], "alert": "third", "environment": "sandbox",
                ]).expect(202)
                #expect(await device.next()?.body == "third")
            }
        }
    }

    @Test func anExpiredNotificationIsNotDelivered() async throws {
        try await withLoop(time: self.time) { loop in
            let identity = try await loop.activate()
            let token = try await loop.token(identity)
            let soon = loop.time.now.seconds + 10
            let answer = try await loop.provider.send(
                [
                    "to": ["tokens": [.string(token)]], "alert": "late", "environment": "sandbox",
                    "expiration": .integer(soon),
                ]
            )
            #expect(try await loop.provider.finished(answer)["counters"]["accepted"] == 1)
            self.time.advance(by: .seconds(11))
            try await loop.expectOnlyNew(identity, token)
            let events = try await loop.gateway.admin.get("/v1/devices/\(identity.deviceID)/events").json["events"]
            #expect(events.elements.contains { $0["event"] == "Discarded – Expired" })
        }
    }

    @Test func expirationZeroIsNeverStored() async throws {
        try await withLoop(time: self.time) { loop in
            let identity = try await loop.activate()
            let token = try await loop.token(identity)
            let answer = try await loop.provider.send(
                [
                    "to": ["tokens": [.string(token)]], "alert": "now or never", "environment": "sandbox",
                    "expiration": 0,
                ]
            )
            #expect(try await loop.provider.finished(answer)["counters"]["accepted"] == 1)
            try await loop.expectOnlyNew(identity, token)
        }
    }

    @Test func aCollapseIDReachesTheDeviceAndReplacesInTheStore() async throws {
        try await withLoop(time: self.time) { loop in
            let identity = try await loop.activate()
            let token = try await loop.token(identity)
            for body in ["1 new", "2 new"] {
                let answer = try await loop.provider.send(
                    [
                        "to": ["tokens": [.string(token)]], "alert": .string(body), "environment": "sandbox",
                        "collapseId": "inbox",
                    ]
                )
                _ = try await loop.provider.finished(answer)
            }
            try await loop.withDevice(identity) { device in
                _ = try await device.deviceToken(for: Vectors.bundleID, timeout: .patience)
                let received = try #require(await device.next())
                #expect(received.body == "2 new")
                #expect(received.collapseID == "inbox")
            }
        }
    }

    @Test func aDeletedDeviceIsUnregisteredAndItsTokenIsDropped() async throws {
        try await withLoop(time: self.time) { loop in
            let identity = try await loop.activate()
            let token = try await loop.token(identity)
            _ = try await loop.provider.register(token)
            self.time.advance(by: .seconds(1))
            #expect(try await loop.gateway.admin.delete("/v1/devices/\(identity.deviceID)").status == 204)
            let answer = try await loop.provider.send(["to": ["all": true], "alert": "Hi"])
            #expect(try await loop.provider.finished(answer)["counters"]["rejected"] == 1)
            #expect(try await loop.provider.deliveries(answer).first?["reason"] == "Unregistered")
            let path = "/v1/apps/\(Vectors.bundleID)/devices/\(token)"
            let device = try await loop.provider.api.get(path).json["devices"].elements.first
            #expect(device?["state"] == "inactive")
        }
    }
}

extension RunningLoop {
    /// Connects once, to have a device token.
    func token(_ identity: DeviceIdentity) async throws -> String {
        try await self.withDevice(identity) { try await $0.deviceToken(for: Vectors.bundleID, timeout: .patience) }
    }

    /// Connects and shows that nothing was kept: the first notification to arrive is one sent after that.
    func expectOnlyNew(_ identity: DeviceIdentity, _ token: String) async throws {
        try await self.withDevice(identity) { device in
            _ = try await device.deviceToken(for: Vectors.bundleID, timeout: .patience)
            try await self.provider.send(["to": ["tokens": [.string(token)]], "alert": "new", "environment": "sandbox"])
                .expect(202)
            #expect(await device.next()?.body == "new")
        }
    }
}

extension Device {
    /// The next notification to arrive.
    func next() async -> ReceivedNotification? {
        var iterator = self.notifications.makeAsyncIterator()
        return await iterator.next()
    }
}

extension ReceivedNotification {
    /// The alert's text.
    var body: String? { (try? JSONValue(parsing: self.payload))?["aps"]["alert"].stringValue }
}

extension JSONClient.Response {
    func expect(_ status: Int) {
        #expect(self.status == status)
    }
}
