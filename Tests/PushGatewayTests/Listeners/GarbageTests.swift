import Foundation
import NIOSSL
import PushGateway
import PushTesting
import PushWire
import Testing

/// Garbage on every listener gets a clear end, and the gateway goes on serving.
@Suite(.timeLimit(.patience)) struct GarbageTests {
    @Test(arguments: 0..<3)
    func randomBytesInPlaceOfTLSEndTheConnection(listener: Int) async throws {
        // The handshakes of others are in time too.
        try await withGrowingLimit { limit in
            try await self.withGateway(deadline: limit) { gateway in
                var generator = SystemRandomNumberGenerator()
                let connection = try await RawConnection.open(port: gateway.port(ofListener: listener))
                connection.write((0..<4096).map { _ in UInt8.random(in: 0...255, using: &generator) })
                _ = await connection.readToEnd()
                return (try? await gateway.isAlive()) == true
            }
        }
    }

    @Test(arguments: 0..<2)
    func randomBytesInsideTLSEndTheConnection(listener: Int) async throws {
        try await withGrowingLimit { limit in
            try await self.withGateway(deadline: limit) { gateway in
                let port = gateway.port(ofListener: listener)
                let connection = try await RawConnection.open(port: port, tls: gateway.tls)
                connection.write([UInt8](repeating: 0xff, count: 4096))
                _ = await connection.readToEnd()
                return (try? await gateway.isAlive()) == true
            }
        }
    }

    @Test func anHTTP1ClientIsToldWhatIsWrong() async throws {
        try await self.withGateway { gateway in
            let connection = try await RawConnection.open(port: gateway.addresses.main.http2, tls: gateway.tls)
            connection.write(Array("POST /3/device/aa HTTP/1.1\r\nhost: localhost\r\n\r\n".utf8))
            let response = String(decoding: await connection.readToEnd(), as: UTF8.self)
            #expect(response.hasPrefix("HTTP/1.1 505 "))
            #expect(response.contains("HTTP/2 is required"))
        }
    }

    @Test func aBodyOfTenMegabytesIsTooLarge() async throws {
        try await self.withGateway { gateway in
            let response = try await PushClient.with(gateway) { client in
                try await client.send(path: "/3/device/", headers: [], body: Data(count: 10_000_000))
            }
            #expect(response.reason == "MissingDeviceToken", "the path is checked before the size")
            try await gateway.expectAlive()
        }
    }

    @Test func anOverlongDeviceLinkPacketEndsTheConnection() async throws {
        try await self.withGateway { gateway in
            let connection = try await RawConnection.open(port: gateway.addresses.main.deviceLink, tls: gateway.tls)
            connection.write([7, 0xff, 0xff, 0xff, 0xff, 0])
            #expect(await connection.readToEnd().isEmpty)
            try await gateway.expectAlive()
        }
    }

    @Test func aDeviceWithoutProofIsRejected() async throws {
        try await self.withGateway { gateway in
            let connection = try await RawConnection.open(port: gateway.addresses.main.deviceLink, tls: gateway.tls)
            connection.write(DeviceLinkConnectRequest(certificate: [1, 2, 3], nonce: [4], signature: [5]).packet)
            let packets = try await connection.readPackets(1)
            #expect(packets.first.flatMap { DeviceLinkConnectResponse($0) }?.status == .rejected)
            #expect(await connection.readToEnd().isEmpty)
        }
    }

    @Test(arguments: [
        ("POST", "/v1/apps", "{", 400, "invalid_json"), ("POST", "/v1/apps", "[]", 400, "invalid_json"),
        ("POST", "/v1/apps", #"{"teamId":"DEF123GHIJ"}"#, 400, "missing_field"),
        ("POST", "/v1/apps", #"{"teamId":"short","bundleId":"a"}"#, 400, "invalid_identifier"),
        ("POST", "/v1/apps", #"{"teamId":"DEF123GHIJ","bundleId":"a b"}"#, 400, "invalid_bundle_id"),
        ("POST", "/v1/keys", #"{"teamId":"DEF123GHIJ","keyId":"ABC123DEFG","key":"x"}"#, 400, "invalid_key"),
        ("POST", "/v1/devices", #"{"csr":"x"}"#, 400, "invalid_csr"),
        ("GET", "/v1/devices/x/events", "", 404, "no_such_device"),
        ("DELETE", "/v1/devices/x", "", 404, "no_such_device"),
        ("GET", "/nothing", "", 404, "not_found"),
    ])
    func theAdminListenerNamesTheFault(method: String, path: String, body: String, status: Int, code: String)
        async throws
    {
        try await self.withGateway { gateway in
            let response = try await gateway.admin.call(method, path, Data(body.utf8))
            #expect(response.status == status)
            #expect(response.code == code)
        }
    }

    @Test func theAdminListenerRejectsLargeBodiesAndBrowsers() async throws {
        try await self.withGateway { gateway in
            let large = try await gateway.admin.call("POST", "/v1/apps", Data(count: 1_000_000))
            #expect(large.status == 413)
            let page = try await gateway.admin.call("GET", "/v1/apps", nil, headers: ["origin": "https://example.com"])
            #expect(page.code == "browser_refused")
            let rebound = try await gateway.admin.call("GET", "/v1/apps", nil, headers: ["host": "example.com"])
            #expect(rebound.code == "host_refused")
        }
    }

    /// - Parameter deadline: for TLS and the first bytes; short only where the test waits for its end.
    private func withGateway<Value: Sendable>(
        deadline: Duration = .patience,
        _ body: @escaping @Sendable (RunningGateway) async throws -> Value
    ) async throws -> Value {
        try await withTemporaryDirectory { directory in
            try await PushTesting.withGateway(in: directory, configure: { $0.limits.handshake = deadline }, body)
        }
    }
}

extension RunningGateway {
    /// 0 is HTTP/2, 1 device link, 2 admin.
    func port(ofListener listener: Int) -> Int {
        [self.addresses.main.http2, self.addresses.main.deviceLink, self.addresses.admin][listener]
    }

    /// Trusts the gateway, offers no ALPN.
    var tls: TLSConfiguration {
        get throws {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(self.gateway.authorityPEM.utf8)))
            return tls
        }
    }

    func expectAlive() async throws { #expect(try await self.isAlive()) }

    /// Returns `true` if the admin listener and that of providers respond as they should.
    func isAlive() async throws -> Bool {
        let health = try await self.admin.get("/health").status
        let response = try await PushClient.with(self) { client in
            try await client.send("GET", path: "/", headers: [], body: Data())
        }
        return health == 200 && response.reason == "MethodNotAllowed" && response.apnsID != nil
    }
}
