import Logging
import NIOHPACK
import NIOPosix
import PushSupport
import PushTesting
import PushTypes
import PushWire
import Testing

@testable import PushSender

/// A push service with two ports of which one does not work, over real connections.
@Suite(.timeLimit(.patience)) struct SenderPortTests {
    @Test func pushesTakeTheFallbackPortAndReturnWithoutLoss() async throws {
        let refusing = try RefusingPort()
        let port = refusing.number
        let second = try await ScriptedService.start(script: ScriptedService.always200)
        let log = RecordedLog(level: .info)
        let sender = try Self.sender(Self.endpoint(port, second), log)
        var sent = 10
        #expect(kinds(await sender.send(makePushes(10))) == ["accepted": 10])
        #expect(second.requests.count == 10)
        let line = "fallback=\(second.port) host=localhost port=\(port)"
        #expect(log.lines.contains("push service is reached on its fallback port \(line)"))

        let first = try await ScriptedService.start(
            port: port,
            certificate: second.certificate,
            script: ScriptedService.always200
        )
        while first.requests.isEmpty {
            let outcomes = await sender.send(makePushes(10))
            #expect(kinds(outcomes) == ["accepted": 10], "\(outcomes)")
            sent += 10
        }
        #expect(log.lines.contains("push service is reached on its first port again \(line)"))
        // Each push was sent once.
        #expect(first.requests.count + second.requests.count == sent)
        let authority = first.requests.first?.headers.first(name: ":authority")
        #expect(authority == "localhost:\(port)")
        await sender.close()
        await first.stop()
        await second.stop()
        withExtendedLifetime(refusing) {}
    }

    /// A certificate that is not trusted, or a proxy that does not allow the port, may be that port's fault.
    @Test func aPortThatIsInterceptedIsLeft() async throws {
        let first = try await ScriptedService.start(script: ScriptedService.always200)
        let second = try await ScriptedService.start(script: ScriptedService.always200)
        let sender = try Self.sender(Self.endpoint(first.port, second), RecordedLog())
        #expect(kinds(await sender.send(makePushes(3))) == ["accepted": 3])
        #expect(first.requests.isEmpty)
        await sender.close()
        let proxy = try await TestProxy.start(.tunnelExcept(port: first.port))
        let behind = try Self.sender(Self.endpoint(first.port, second), RecordedLog()) {
            $0.proxy = ProxyEndpoint(host: "127.0.0.1", port: proxy.port)
        }
        #expect(kinds(await behind.send(makePushes(3))) == ["accepted": 3])
        #expect(proxy.requests.count >= 2)
        await behind.close()
        await proxy.stop()
        await first.stop()
        await second.stop()
    }

    @Test func refusedPushesAreNoReasonForTheOtherPort() async throws {
        let first = try await ScriptedService.start { _, event in
            if case .opened = event { return ScriptedService.greeting }
            return [.reply(status: 403, body: #"{"reason":"InvalidProviderToken"}"#)]
        }
        let second = try await ScriptedService.start(
            certificate: first.certificate,
            script: ScriptedService.always200
        )
        let sender = try Self.sender(Self.endpoint(first.port, second), RecordedLog())
        for _ in 0..<3 { #expect(kinds(await sender.send(makePushes(2))) == ["rejected": 2]) }
        #expect(second.connections == 0)
        await sender.close()
        await first.stop()
        await second.stop()
    }

    @Test func whenBothFailTheReasonNamesBoth() async throws {
        let (first, second) = (try RefusingPort(), try RefusingPort())
        var endpoint = PushServiceEndpoint(host: "localhost", port: first.number)
        endpoint.fallbackPort = second.number
        let sender = try Self.sender(endpoint, RecordedLog())
        async let outcome = sender.send(Vectors.push(id: "a"))
        let both = "(tried ports \(first.number) and \(second.number))"
        try await eventually { sender.statistics.lastFailure?.hasSuffix(both) == true }
        await sender.close()
        #expect(kinds([await outcome]) == ["not sent": 1])
        withExtendedLifetime((first, second)) {}
    }

    @Test func faultsThatNoPortChangesStay() {
        let proxy = ProxyEndpoint(host: "p", port: 1)
        #expect(!ConnectionError(description: "", cause: .unknownHost).mayDependOnPort)
        #expect(!ConnectionError(description: "", cause: .clientCertificateRejected).mayDependOnPort)
        for cause in [ConnectionFault.Cause.refused, .unreachable, .timeout, .untrustedServer, .wrongProtocol, .closed]
        {
            #expect(ConnectionError(description: "", cause: cause).mayDependOnPort)
        }
        func mayDepend(_ cause: ProxyFailure.Cause) -> Bool {
            ConnectionError(ProxyFailure(cause, proxy: proxy, host: "h", port: 443)).mayDependOnPort
        }
        #expect(!mayDepend(.unauthorized(status: 407)) && !mayDepend(.unreachable("x")) && !mayDepend(.notHTTP))
        #expect(mayDepend(.forbidden) && mayDepend(.timeout) && mayDepend(.rejected(status: 503, phrase: "")))
    }

    private static func endpoint(_ first: Int, _ second: ScriptedService) -> PushServiceEndpoint {
        var endpoint = second.endpoint
        (endpoint.port, endpoint.fallbackPort) = (first, second.port)
        // The tests do not depend on speed.
        endpoint.connectTimeout = .patience
        return endpoint
    }

    /// Returns a sender that tries the first port again after milliseconds.
    private static func sender(
        _ endpoint: PushServiceEndpoint,
        _ log: RecordedLog,
        configure: (inout SenderConfiguration) -> Void = { _ in }
    ) throws -> Sender {
        var configuration = SenderConfiguration.patient
        configuration.maximumConnections = 1
        configuration.reconnectBase = .milliseconds(5)
        configuration.reconnectMaximum = .milliseconds(20)
        configuration.drainTimeout = .patience
        configure(&configuration)
        let ports = try PortSelector(
            endpoint,
            proxy: configuration.proxy,
            group: MultiThreadedEventLoopGroup.singleton,
            time: SystemTime(),
            delay: Backoff(base: .milliseconds(20), maximum: .milliseconds(40)),
            logger: log.logger
        )
        return try Sender(
            to: endpoint,
            credential: .token(try ProviderTokenSignerTests.key()),
            configuration: configuration,
            time: SystemTime(),
            ports: ports,
            logger: log.logger
        )
    }
}
