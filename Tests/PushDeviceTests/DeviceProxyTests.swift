import PushDevice
import PushTesting
import PushTypes
import PushWire
import Testing

/// A device behind a proxy.
@Suite(.timeLimit(.patience)) struct DeviceProxyTests {
    @Test func theDeviceLinkGoesThroughTheTunnel() async throws {
        let proxy = try await TestProxy.start(.tunnelFor(credentials: "ZGV2aWNlOnNlY3JldA=="))
        let endpoint = ProxyEndpoint(host: "127.0.0.1", port: proxy.port, user: "device", password: "secret")
        try await ScriptedPushService.with { service in
            try await service.withDevice(configure: { $0.proxy = endpoint }) { tested in
                async let token = tested.device.deviceToken(for: "com.example.App", timeout: .patience)
                let connection = try await service.acceptedConnection()
                let request = try #require(DeviceLinkTokenRequest(try await connection.packet(.scopedToken)))
                connection.send(DeviceLinkTokenResponse(status: 0, token: [1, 2], topic: request.topic).packet)
                #expect(try await token == "0102")
                #expect(
                    proxy.requests
                        == ["CONNECT localhost:\(service.port) HTTP/1.1"].map { line in
                            "\(line)\r\nhost: localhost:\(service.port)\r\nproxy-authorization: Basic ZGV2aWNlOnNlY3JldA==\r\n\r\n"
                        }
                )
            }
        }
        await proxy.stop()
    }

    @Test func theDeviceReturnsWithItsProxy() async throws {
        let port = try RefusingPort()
        let first = try await TestProxy.start(port: port.number)
        let endpoint = ProxyEndpoint(host: "127.0.0.1", port: port.number)
        try await ScriptedPushService.with { service in
            try await service.withDevice(configure: { $0.proxy = endpoint }) { tested in
                let connection = try await service.acceptedConnection()
                _ = try await connection.packet(.filter)
                await first.stop()
                _ = try await tested.delay()
                let second = try await TestProxy.start(port: port.number)
                _ = try await service.acceptedConnection()
                await second.stop()
            }
        }
        withExtendedLifetime(port) {}
    }

    @Test(arguments: [
        (TestProxy.Behaviour.answer("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"), "(407)"),
        (.answer("HTTP/1.1 403 Forbidden\r\n\r\n"), "does not allow localhost:"), (.close, "closed the connection"),
        (.answer("220 mail.example ESMTP\r\n"), "is not an HTTP proxy"),
        (.endless("HTTP/1.1 200 OK"), "without end of its headers"),
    ])
    func anotherAnswerIsLoggedAndTriedAgain(behaviour: TestProxy.Behaviour, text: String) async throws {
        let proxy = try await TestProxy.start(behaviour)
        let endpoint = ProxyEndpoint(host: "127.0.0.1", port: proxy.port)
        try await ScriptedPushService.with { service in
            try await service.withDevice(configure: { $0.proxy = endpoint }) { tested in
                for _ in 0..<3 { _ = try await tested.delay() }
                let line = try #require(tested.log.lines.first { $0.hasPrefix("no connection to the push service") })
                #expect(line.contains(text) && line.contains("127.0.0.1:\(proxy.port)"))
            }
        }
        await proxy.stop()
    }

    @Test func anActivationGoesThroughTheProxyAndNamesIt() async throws {
        let proxy = try await TestProxy.start(.answer("HTTP/1.1 407 Who?\r\ncontent-length: 0\r\n\r\n"))
        let endpoint = ProxyEndpoint(host: "127.0.0.1", port: proxy.port, user: "device", password: "secret")
        for url in ["http://gateway.example:2198", "https://gateway.example"] {
            await #expect {
                try await DeviceActivation(adminURL: url, timeout: .patience, proxy: endpoint).activate()
            } throws: { error in
                "\(error)".contains("127.0.0.1:\(proxy.port)") && "\(error)".contains("407")
                    && !"\(error)".contains("secret")
            }
        }
        let lines = proxy.requests.compactMap { $0.split(separator: "\r\n").first }
        #expect(
            lines == ["CONNECT gateway.example:2198 HTTP/1.1", "CONNECT gateway.example:443 HTTP/1.1"]
        )
        await proxy.stop()
    }
}
