import Foundation
import NIOCore
import NIOPosix
import PushTesting
import PushTypes
import PushWire
import Testing

@testable import PushSender

/// Faults of a push service, over real connections, with the outcome that callers must see.
@Suite(.timeLimit(.patience)) struct SenderFaultTests {
    @Test func silenceAfterAcceptIsNotSent() async throws {
        try await withSender(script: { _, _ in [] }) {
            $0.handshakeTimeout = .milliseconds(50)
            $0.waitTimeout = .milliseconds(300)
        } _: { sender, service in
            #expect(kinds(await sender.send(makePushes(3))) == ["not sent": 3])
            #expect(service.requests.isEmpty)
        }
    }

    @Test func silenceBeforeTLSIsNotSent() async throws {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        var endpoint = PushServiceEndpoint(host: "localhost", port: server.localAddress?.port ?? 0)
        endpoint.connectTimeout = .milliseconds(50)
        let sender = try makeSender(to: endpoint) { $0.waitTimeout = .milliseconds(300) }
        #expect(kinds(await sender.send(makePushes(3))) == ["not sent": 3])
        await sender.close()
        try await server.close()
    }

    @Test func silenceAfterHalfOfTheResponsesLeavesTheRestUnknown() async throws {
        let script: ScriptedService.Script = { _, event in
            guard case .request(let request) = event else { return ScriptedService.greeting }
            return request.number < 10 ? [.reply()] : []
        }
        try await withGrowingLimit { limit in
            try await withSender(script: script, configure: { $0.responseTimeout = limit }) { sender, service in
                let kinds = kinds(await sender.send(makePushes(20)))
                // The ten responses have to arrive before the limit.
                guard kinds["accepted"] == 10 else { return false }
                #expect(kinds == ["accepted": 10, "unknown": 10])
                #expect(service.requests.count == 20)
                return true
            }
        }
    }

    @Test func whatGoAwaySparesGoesToTheNextConnection() async throws {
        let script: ScriptedService.Script = { connection, event in
            guard case .request(let request) = event else { return ScriptedService.greeting }
            guard connection < 3 else { return [.reply()] }
            if request.number < 100 { return [.reply()] }
            return request.number == 100 ? [.goAway(last: request.streamID - 2, debugData: "bye")] : []
        }
        try await withSender(script: script) { sender, service in
            let outcomes = await sender.send(makePushes(1000))
            #expect(kinds(outcomes) == ["accepted": 1000])
            #expect(service.connections == 4)
            // Nothing was answered twice.
            #expect(service.replied == 1000)
        }
    }

    @Test func goAwayOverTheCredentialEndsAtOnce() async throws {
        let script: ScriptedService.Script = { _, event in
            guard case .request = event else { return ScriptedService.greeting }
            return [.goAway(last: 0, debugData: #"{"reason":"BadCertificateEnvironment"}"#)]
        }
        try await withSender(script: script) { sender, _ in
            guard case .notSent(let failure) = await sender.send(makePushes(1)[0]) else {
                Issue.record("not what it should be")
                return
            }
            #expect(failure.reason == .badCertificateEnvironment)
            #expect(failure.description.contains("BadCertificateEnvironment"))
        }
    }

    @Test func aRefusedStreamIsRetriedAFewTimes() async throws {
        let script: ScriptedService.Script = { _, event in
            guard case .request(let request) = event else { return ScriptedService.greeting }
            return request.id == "push-0" || request.number < 2 ? [.reset(7)] : [.reply()]
        }
        try await withSender(script: script) { sender, service in
            #expect(await sender.send(makePushes(2)).map(\.kind) == ["not sent", "accepted"])
            #expect(service.requests.count { $0.id == "push-0" } == 3)
        }
    }

    @Test(arguments: HTTP2ErrorCode.allCases.filter { $0 != .refusedStream })
    func anyOtherResetIsUnknown(code: HTTP2ErrorCode) async throws {
        let script: ScriptedService.Script = { _, event in
            guard case .request(let request) = event else { return ScriptedService.greeting }
            return request.number == 0 ? [.reset(code.rawValue)] : [.reply()]
        }
        try await withSender(script: script) { sender, service in
            #expect(await sender.send(makePushes(2)).map(\.kind) == ["unknown", "accepted"])
            #expect(service.connections == 1)
        }
    }

    @Test func aStreamLimitThatDropsToOneSlowsDownAndLosesNothing() async throws {
        let script: ScriptedService.Script = { _, event in
            guard case .request(let request) = event else {
                return [.settings([(.maximumConcurrentStreams, 1)]), .window(1_000_000)]
            }
            switch request.number {
            case 0: return [.reply(), .settings([(.maximumConcurrentStreams, 100)])]
            case 150: return [.settings([(.maximumConcurrentStreams, 1)]), .reply()]
            default: return [.reply()]
            }
        }
        try await withSender(script: script) { sender, service in
            #expect(kinds(await sender.send(makePushes(500))) == ["accepted": 500])
            #expect(service.connections == 1)
        }
    }

    @Test func aResponseByteByByteIsAResponse() async throws {
        let script: ScriptedService.Script = { _, event in
            if case .request = event { [.replySlowly] } else { ScriptedService.greeting }
        }
        try await withSender(script: script) { sender, _ in
            #expect(kinds(await sender.send(makePushes(20))) == ["accepted": 20])
        }
    }

    @Test(arguments: [ScriptedService.Act.halfClose, .close, .bytes(Array("garbage that is no frame".utf8))])
    func aConnectionThatBreaksLeavesUnknownAndIsReplaced(act: ScriptedService.Act) async throws {
        let script: ScriptedService.Script = { connection, event in
            guard case .request(let request) = event else { return ScriptedService.greeting }
            guard connection == 0 else { return [.reply()] }
            return request.number < 5 ? [.reply()] : request.number == 9 ? [act] : []
        }
        try await withSender(script: script) { sender, service in
            #expect(kinds(await sender.send(makePushes(10))) == ["accepted": 5, "unknown": 5])
            #expect(kinds(await sender.send(makePushes(10))) == ["accepted": 10])
            #expect(service.connections == 2)
        }
    }

    @Test func aServiceThatWantsACertificateIsNotTriedForEver() async throws {
        let service = try await ScriptedService.start(demandsClientCertificate: true) { _, _ in [] }
        let sender = try makeSender(to: service.endpoint)
        guard case .notSent(let failure) = await sender.send(makePushes(1)[0]) else {
            Issue.record("not what it should be")
            return
        }
        #expect(failure.description.contains("TLS"))
        #expect(failure.fault == .init(.clientCertificateRejected, host: service.endpoint.host, port: service.port))
        await sender.close()
        await service.stop()
    }

    @Test func anExpiredCertificateOfTheServiceIsNotTrusted() async throws {
        let expired = try ServiceCertificate(expires: Date(timeIntervalSinceNow: -60))
        let service = try await ScriptedService.start(certificate: expired, script: ScriptedService.always200)
        let sender = try makeSender(to: service.endpoint)
        guard case .notSent(let failure) = await sender.send(makePushes(1)[0]) else {
            Issue.record("not what it should be")
            return
        }
        #expect(failure.description.uppercased().contains("CERTIFICATE"))
        #expect(failure.fault == .init(.untrustedServer, host: service.endpoint.host, port: service.port))
        #expect(service.requests.isEmpty)
        await sender.close()
        await service.stop()
    }

    @Test func aCertificateOfAnotherAuthorityIsNotTrusted() async throws {
        let service = try await ScriptedService.start(script: ScriptedService.always200)
        var endpoint = service.endpoint
        endpoint.additionalTrustRoots = nil
        let sender = try makeSender(to: endpoint)
        #expect(await sender.send(makePushes(1)[0]).kind == "not sent")
        #expect(service.requests.isEmpty)
        await sender.close()
        await service.stop()
    }

    @Test func aServiceThatComesBackGetsWhatWaited() async throws {
        let certificate = try ServiceCertificate()
        let port = try RefusingPort()
        func start() async throws -> ScriptedService {
            try await ScriptedService.start(
                port: port.number,
                certificate: certificate,
                script: ScriptedService.always200
            )
        }
        let first = try await start()
        await first.stop()
        let sender = try makeSender(to: first.endpoint)
        async let outcomes = sender.send(makePushes(10))
        try await eventually { sender.statistics.waiting >= 10 }
        let second = try await start()
        #expect(kinds(await outcomes) == ["accepted": 10])
        await sender.close()
        await second.stop()
        withExtendedLifetime(port) {}
    }

    @Test func aServiceThatStaysAwayIsNotSent() async throws {
        let port = try RefusingPort()
        let first = try await ScriptedService.start(port: port.number, script: ScriptedService.always200)
        await first.stop()
        let sender = try makeSender(to: first.endpoint)
        async let outcome = sender.send(makePushes(1)[0])
        try await eventually { sender.statistics.lastFailure != nil }
        #expect(sender.statistics.lastFailure?.contains("refused") == true)
        await sender.close()
        #expect(await outcome.kind == "not sent")
        withExtendedLifetime(port) {}
    }
}
