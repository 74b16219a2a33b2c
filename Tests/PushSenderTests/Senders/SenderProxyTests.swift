import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushSender

/// Pushes through proxies that open tunnels, and through those that do not.
@Suite(.timeLimit(.patience)) struct SenderProxyTests {
    @Test func pushesGoThroughTheTunnel() async throws {
        let proxy = try await TestProxy.start(.tunnelFor(credentials: "cHVzaDpzZWNyZXQ="))
        let endpoint = ProxyEndpoint(host: "127.0.0.1", port: proxy.port, user: "push", password: "secret")
        try await withSender(script: ScriptedService.always200, configure: { $0.proxy = endpoint }) { sender, service in
            #expect(kinds(await sender.send(makePushes(100))) == ["accepted": 100])
            #expect(proxy.requests.first?.hasPrefix("CONNECT localhost:\(service.port) HTTP/1.1\r\n") == true)
        }
        await proxy.stop()
    }

    /// Without a credential that the proxy accepts, or the right to the port, pushes end at once.
    @Test(arguments: [
        (TestProxy.Behaviour.tunnelFor(credentials: "other"), "does not accept the user or the password (407)"),
        (.answer("HTTP/1.1 403 Forbidden\r\n\r\n"), "does not allow localhost:"),
        (.answer("HTTP/1.1 405 Method Not Allowed\r\ncontent-length: 3\r\n\r\nno!"), "405 Method Not Allowed"),
        (.answer("SSH-2.0-OpenSSH_9.2\r\n"), "is not an HTTP proxy"),
        (.answer("\u{0}\u{1}\u{2}\u{3}"), "is not an HTTP proxy"),
        (.endless("HTTP/1.1 200 OK"), "without end of its headers"),
    ])
    func aFaultOfTheSettingsEndsThePushes(behaviour: TestProxy.Behaviour, text: String) async throws {
        let proxy = try await TestProxy.start(behaviour)
        let endpoint = ProxyEndpoint(host: "127.0.0.1", port: proxy.port, user: "push", password: "secret")
        try await withSender(script: ScriptedService.always200) {
            $0.proxy = endpoint
            $0.waitTimeout = .patience
        } _: { sender, service in
            guard case .notSent(let failure) = await sender.send(Vectors.push(id: "a")) else {
                Issue.record("it was sent")
                return
            }
            #expect(failure.description.contains(text))
            #expect(failure.description.contains("127.0.0.1:\(proxy.port)"))
            #expect(!failure.description.contains("secret"))
            #expect(service.connections == 0)
        }
        await proxy.stop()
    }

    private static let timeout = "within the time limit"

    /// What may pass is tried again, and the pushes wait.
    @Test(arguments: [
        (TestProxy.Behaviour.close, "closed the connection"),
        (.answer("HTTP/1.1 503 Service Unavailable\r\n\r\n"), "503 Service Unavailable"),
        (.silence, timeout), (.answer("HTTP/1.1 200 OK\r\n"), timeout),
    ])
    func aProxyInTroubleIsTriedAgain(behaviour: TestProxy.Behaviour, text: String) async throws {
        let proxy = try await TestProxy.start(behaviour)
        var endpoint = PushServiceEndpoint(host: "localhost", port: 443)
        endpoint.connectTimeout = text == Self.timeout ? .milliseconds(500) : .patience
        let address = "127.0.0.1:\(proxy.port)"
        let outcome = try await Self.outcome(to: endpoint, through: proxy.port) { failure in
            failure.contains(text) && failure.contains(address) && proxy.connections > 1
        }
        #expect(outcome == .notSent(.init("the sender was closed before it was sent")))
        await proxy.stop()
    }

    @Test func aProxyThatIsAwayIsNamed() async throws {
        let port = try RefusingPort()
        let endpoint = PushServiceEndpoint(host: "localhost", port: 443)
        let outcome = try await Self.outcome(to: endpoint, through: port.number) { failure in
            failure == "no connection to the proxy 127.0.0.1:\(port.number): Connection refused"
        }
        #expect(outcome == .notSent(.init("the sender was closed before it was sent")))
        withExtendedLifetime(port) {}
    }

    /// Returns the outcome of a push whose sender is closed once its failure is the expected one.
    private static func outcome(
        to endpoint: PushServiceEndpoint,
        through port: Int,
        _ isExpected: (String) -> Bool
    ) async throws -> Outcome {
        let sender = try makeSender(to: endpoint) {
            $0.proxy = ProxyEndpoint(host: "127.0.0.1", port: port)
            $0.waitTimeout = .patience
        }
        async let outcome = sender.send(Vectors.push(id: "a"))
        try await eventually { isExpected(sender.statistics.lastFailure ?? "") }
        await sender.close()
        return await outcome
    }

    @Test func pushesSurviveAProxyThatGoesAndComes() async throws {
        let port = try RefusingPort()
        let first = try await TestProxy.start(port: port.number)
        let endpoint = ProxyEndpoint(host: "127.0.0.1", port: port.number)
        try await withSender(script: ScriptedService.always200) {
            $0.proxy = endpoint
            $0.waitTimeout = .patience
        } _: { sender, service in
            #expect(kinds(await sender.send(makePushes(10))) == ["accepted": 10])
            await first.stop()
            // What is taken by a connection that has just ended may have arrived or not.
            try await eventually { sender.statistics.connections == 0 }
            async let outcomes = sender.send(makePushes(10))
            let second = try await TestProxy.start(port: port.number)
            #expect(kinds(await outcomes) == ["accepted": 10])
            #expect(service.connections >= 2)
            await second.stop()
        }
        withExtendedLifetime(port) {}
    }

    @Test func anAddressOfThePushServiceIsRefused() async throws {
        let proxy = try await TestProxy.start()
        let sender = try makeSender(to: PushServiceEndpoint(host: "127.0.0.1", port: 1)) {
            $0.proxy = ProxyEndpoint(host: "127.0.0.1", port: proxy.port)
            $0.waitTimeout = .patience
        }
        guard case .notSent(let failure) = await sender.send(Vectors.push(id: "a")) else {
            Issue.record("it was sent")
            return
        }
        #expect(failure.description.contains("must be a name, not the address 127.0.0.1:1"))
        #expect(proxy.connections == 0)
        await sender.close()
        await proxy.stop()
    }
}
