import NIOCore
import NIOHPACK
import NIOSSL
import PushTesting
import PushWire
import Testing

@testable import PushGateway

/// How connections of providers end, over TLS.
@Suite(.timeLimit(.patience)) struct ProviderEndingTests {
    @Test func aClientThatClosesItsHalfGetsItsResponses() async throws {
        try await self.withConnection { connection in
            connection.write(try Self.requests(1...9))
            try await connection.closeOutput()
            let frames = PeerFrame.frames(try await connection.readToOrderlyEnd())
            #expect(frames.filter { $0.type == .headers }.map(\.streamID) == [1, 3, 5, 7, 9])
            #expect(!frames.contains { $0.type == .goAway })
        }
    }

    @Test func aClientThatSendsGoAwayGetsItsResponsesAndTheEnd() async throws {
        try await self.withConnection { connection in
            var bytes = ByteBuffer(bytes: try Self.requests(1...5))
            bytes.writeGoAway(lastStreamID: 0, .noError, debugData: "")
            connection.write(Array(bytes.readableBytesView))
            let frames = PeerFrame.frames(try await connection.readToOrderlyEnd())
            #expect(frames.filter { $0.type == .headers }.map(\.streamID) == [1, 3, 5])
        }
    }

    @Test func theFaultSendsOneGoAway() async throws {
        try await self.withConnection(faults: ["goAway=5,text=Shutdown"]) { connection in
            connection.write(try Self.requests(1...99))
            let frames = PeerFrame.frames(await connection.readToEnd())
            #expect(frames.count { $0.type == .goAway } == 1)
            #expect(frames.filter { $0.type == .headers }.count == 50)
        }
    }

    @Test func tooManyBadTokensEndTheConnectionAfterTheirResponses() async throws {
        try await self.withConnection { connection in
            connection.write(try Self.requests(1...399) { "bearer a.\($0).c" })
            let frames = PeerFrame.frames(await connection.readToEnd())
            #expect(frames.count { $0.type == .headers } == 101)
            let goAways = frames.filter { $0.type == .goAway }
            #expect(goAways.map(\.words) == [[201, HTTP2ErrorCode.enhanceYourCalm.rawValue]])
        }
    }

    // MARK: TLS

    @Test func thePortTakesNoSuiteThatHTTP2Forbids() async throws {
        let forbidden: [NIOTLSCipher] = [
            .TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA, .TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA,
            .TLS_RSA_WITH_AES_128_GCM_SHA256,
        ]
        #expect(!(try await self.accepts(suites: forbidden)))
        #expect(try await self.accepts(suites: forbidden + [.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256]))
        #expect(try await self.accepts(suites: [.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256]))
    }

    @Test func anRSACertificateIsShownOnRequest() async throws {
        let suites: [NIOTLSCipher] = [.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]
        #expect(try await self.accepts(suites: suites, serverKey: .rsa))
        #expect(!(try await self.accepts(suites: suites)))
    }

    private func accepts(suites: [NIOTLSCipher], serverKey: ServerKeyType = .p256) async throws -> Bool {
        try await withTemporaryDirectory { directory in
            try await withGateway(in: directory, configure: { $0.serverKey = serverKey }) { gateway in
                var tls = try gateway.tls
                tls.maximumTLSVersion = .tlsv12
                tls.cipherSuiteValues = suites
                let connection = try await RawConnection.open(port: gateway.addresses.main.http2, tls: tls)
                connection.write(try Self.requests(1...1))
                try? await connection.closeOutput()
                return await !connection.readToEnd().isEmpty
            }
        }
    }

    private func withConnection(
        faults: [String] = [],
        _ body: @escaping @Sendable (RawConnection) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            try await withGateway(in: directory, configure: { $0.faults = faults }) { gateway in
                let port = gateway.addresses.main.http2
                let connection = try await RawConnection.open(port: port, tls: try gateway.tls)
                try await body(connection)
                await connection.close()
            }
        }
    }

    /// From the preface on; without bodies, on the odd streams of a range.
    private static func requests(
        _ streams: ClosedRange<UInt32>,
        authorization: (UInt32) -> String? = { _ in nil }
    ) throws -> [UInt8] {
        var encoder = HPACKEncoder(allocator: ByteBufferAllocator())
        var bytes = ByteBuffer(string: HTTP2Constants.preface)
        bytes.writeSettings([])
        for stream in streams where stream & 1 == 1 {
            var block = ByteBuffer()
            let extra = authorization(stream).map { [("authorization", $0)] } ?? []
            try encoder.encode(headers: HPACKHeaders(Vectors.pushHeaders + extra), to: &block)
            bytes.write(
                FrameHeader(
                    length: block.readableBytes,
                    type: .headers,
                    flags: [.endHeaders, .endStream],
                    streamID: stream
                )
            )
            bytes.writeImmutableBuffer(block)
        }
        return Array(bytes.readableBytesView)
    }
}
