import PushDevice
import PushGateway
import PushSupport
import PushTesting
import PushTypes
import Testing

/// Provider and device reach the gateway through a proxy only.
@Suite(.timeLimit(.patience)) struct ProxyTests {
    @Test func aNotificationTakesTheProxyOnBothWays() async throws {
        let proxy = try await TestProxy.start(.tunnelFor(credentials: "cHVzaDpzZWNyZXQ="))
        let endpoint = ProxyEndpoint(host: "127.0.0.1", port: proxy.port, user: "push", password: "secret")
        try await withLoop(through: endpoint) { loop in
            try await loop.withDevice(try await loop.activate()) { device in
                let token = try await device.deviceToken(for: Vectors.bundleID, timeout: .patience)
                #expect(try await loop.provider.register(token).status == 201)
                let answer = try await loop.provider.send(["to": ["all": true], "alert": "Hi"])
                #expect(await device.next()?.body == "Hi")
                #expect(try await loop.provider.finished(answer)["counters"]["accepted"] == 1)
            }
            let addresses = loop.gateway.addresses.main
            for port in [addresses.http2, addresses.deviceLink] {
                #expect(proxy.requests.contains { $0.hasPrefix("CONNECT localhost:\(port) ") }, "\(port)")
            }
        }
        await proxy.stop()
    }

    @Test func nothingIsLostOrDoubledWhileTheProxyIsAway() async throws {
        let port = try RefusingPort()
        let first = try await TestProxy.start(port: port.number)
        let endpoint = ProxyEndpoint(host: "127.0.0.1", port: port.number)
        try await withLoop(through: endpoint) { loop in
            try await loop.withDevice(try await loop.activate()) { device in
                let token = try await device.deviceToken(for: Vectors.bundleID, timeout: .patience)
                #expect(try await loop.provider.register(token).status == 201)
                var answers = [try await loop.provider.send(["to": ["all": true], "alert": "before"])]
                #expect(await device.next()?.body == "before")
                // A push that is cut off in the middle may come again: this one has ended at both ends.
                #expect(try await loop.provider.finished(answers[0])["counters"]["accepted"] == 1)
                try await loop.gateway.untilAcknowledged()
                await first.stop()
                answers.append(try await loop.provider.send(["to": ["all": true], "alert": "meanwhile"]))
                let second = try await TestProxy.start(port: port.number)
                for answer in answers {
                    #expect(try await loop.provider.finished(answer)["counters"]["accepted"] == 1)
                }
                #expect(await device.next()?.body == "meanwhile")
                // Had one of them come twice, it would be before this one.
                try await loop.provider.send(["to": ["all": true], "alert": "after"]).expect(202)
                let last = await device.next()
                #expect(last?.body == "after", "\(String(describing: last))")
                await second.stop()
            }
        }
        withExtendedLifetime(port) {}
    }
}
