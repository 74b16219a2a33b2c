import NIOSSL
import PushGateway
import PushTesting
import PushWire
import Testing

/// Clients that begin and do not go on: each listener lets them go at its deadline, and serves the others.
@Suite(.timeLimit(.patience)) struct SlowClientTests {
    /// What a client does before it falls silent, and the deadline that ends it. The others are far away.
    struct Client: Sendable, CustomTestStringConvertible {
        let name: String
        /// 0 is HTTP/2, 1 device link, 2 admin.
        let listener: Int
        var usesTLS = false
        var bytes: [UInt8] = []
        let shorten: @Sendable (inout GatewayConfiguration.Limits) -> Void

        var testDescription: String { "\(self.name), listener \(self.listener)" }
    }

    private static let soon: Duration = .milliseconds(200)
    private static let far: Duration = .seconds(600)
    /// The start of a TLS record of 512 bytes, of which ten come.
    private static let halfAHandshake: [UInt8] = [22, 3, 1, 2, 0, 1, 0, 1, 252, 3]

    static let clients: [Client] = [
        Client(name: "a connection and nothing", listener: 0) { $0.handshake = Self.soon },
        Client(name: "a connection and nothing", listener: 1) { $0.handshake = Self.soon },
        Client(name: "a connection and nothing", listener: 2) { $0.adminIdle = Self.soon },
        Client(name: "half a handshake", listener: 0, bytes: Self.halfAHandshake) { $0.handshake = Self.soon },
        Client(name: "half a handshake", listener: 1, bytes: Self.halfAHandshake) { $0.handshake = Self.soon },
        Client(name: "TLS and nothing", listener: 0, usesTLS: true) { $0.request = Self.soon },
        Client(name: "TLS and nothing", listener: 1, usesTLS: true) { $0.deviceLink.connect = Self.soon },
        Client(name: "half a preface", listener: 0, usesTLS: true, bytes: Array("PRI * HTTP/2.0\r\n\r\nSM".utf8)) {
            $0.request = Self.soon
        },
        Client(name: "half a method", listener: 0, usesTLS: true, bytes: Array("POS".utf8)) { $0.request = Self.soon },
        Client(name: "half a packet", listener: 1, usesTLS: true, bytes: [7, 0, 0, 1, 0, 12, 0, 200, 1]) {
            $0.deviceLink.connect = Self.soon
        },
        Client(name: "half a head", listener: 2, bytes: Array("POST /v1/apps HTTP/1.1\r\nhost: local".utf8)) {
            $0.adminIdle = Self.soon
        },
        Client(
            name: "half a body",
            listener: 2,
            bytes: Array("POST /v1/apps HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{".utf8)
        ) { $0.request = Self.soon },
    ]

    @Test(arguments: clients) func aClientThatFallsSilentIsLetGo(client: Client) async throws {
        try await withTemporaryDirectory { directory in
            try await withGateway(in: directory, configure: { Self.configure(&$0, for: client) }) { gateway in
                let tls: TLSConfiguration? = client.usesTLS ? try gateway.tls : nil
                let connection = try await RawConnection.open(port: gateway.port(ofListener: client.listener), tls: tls)
                if !client.bytes.isEmpty { connection.write(client.bytes) }
                _ = await connection.readToEnd()
            }
        }
    }

    @Test(arguments: 0..<3) func aHundredSilentClientsDoNotKeepOthersOut(listener: Int) async throws {
        try await withTemporaryDirectory { directory in
            try await withGateway(in: directory) { gateway in
                var connections: [RawConnection] = []
                for number in 0..<100 {
                    let connection = try await RawConnection.open(port: gateway.port(ofListener: listener))
                    if number % 2 == 0 { connection.write(Self.halfAHandshake) }
                    connections.append(connection)
                }
                try await gateway.expectAlive()
                for connection in connections { await connection.close() }
            }
        }
    }

    private static func configure(_ configuration: inout GatewayConfiguration, for client: Client) {
        configuration.limits.handshake = self.far
        configuration.limits.request = self.far
        configuration.limits.adminIdle = self.far
        configuration.limits.deviceLink.connect = self.far
        client.shorten(&configuration.limits)
    }
}
