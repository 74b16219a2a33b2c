import ArgumentParser
import AsyncHTTPClient
import Benchmarking
import Foundation
import NIOCore
import NIOHTTP1
import PushDevice
import PushSender
import PushSupport
import PushTypes

/// Creates the app and its key, activates devices, requests their tokens, and stores them in a file.
struct Activate: AsyncParsableCommand {
    /// The number of activations in flight.
    private static let parallel = 16

    @OptionGroup var swarm: SwarmOptions
    @Option(help: "Port of the admin door on localhost.") var adminPort: Int
    @Option(help: "The provider's .p8 file.") var key: String
    @Option(help: "Where a provider token for the key is written.") var providerToken: String
    @Option(help: "Where the devices' push addresses are written, a line each.") var addresses: String

    func run() async throws {
        let pem = try String(contentsOfFile: self.key, encoding: .utf8)
        try await self.post("apps", ["teamId": Provider.teamID, "bundleId": Provider.topic.name])
        try await self.post("keys", ["teamId": Provider.teamID, "keyId": Provider.keyID, "key": pem])
        var token = ProviderTokenSigner(key: try Provider.key(pem: pem))
        try token.text(now: SystemTime().now).write(toFile: self.providerToken, atomically: true, encoding: .utf8)

        var devices = (try? DeviceFile.read(self.swarm.file)) ?? []
        devices += try await self.activate(self.swarm.devices - devices.count)
        try await self.fetchTokens(&devices)
        try DeviceFile.write(devices, to: self.swarm.file)
        try devices.prefix(self.swarm.devices).map { "/3/device/\($0.token?.hex ?? "")\n" }.joined()
            .write(toFile: self.addresses, atomically: true, encoding: .utf8)
    }

    private func activate(_ count: Int) async throws -> [BenchmarkDevice] {
        let activation = DeviceActivation(adminURL: "http://127.0.0.1:\(self.adminPort)")
        return try await withThrowingTaskGroup(of: DeviceIdentity.self) { group in
            var devices: [BenchmarkDevice] = []
            for started in 0..<max(0, count) {
                if started >= Self.parallel, let identity = try await group.next() {
                    devices.append(BenchmarkDevice(identity: identity))
                }
                group.addTask { try await activation.activate() }
                if devices.count % 500 == 499 { Self.say("\(devices.count + 1) of \(count) devices activated") }
            }
            for try await identity in group { devices.append(BenchmarkDevice(identity: identity)) }
            return devices
        }
    }

    /// Connects the devices without a token, once.
    private func fetchTokens(_ devices: inout [BenchmarkDevice]) async throws {
        let without = devices.indices.filter { devices[$0].token == nil }
        guard !without.isEmpty else { return }
        let swarm = Swarm(port: self.swarm.courierPort, devices: try without.map { try devices[$0].prepared() })
        let tokens = try await swarm.fetchTokens()
        await swarm.disconnect()
        for (index, token) in zip(without, tokens) { devices[index].token = token }
        Self.say("\(without.count) device tokens")
    }

    private func post(_ path: String, _ body: [String: String]) async throws {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(self.adminPort)/v1/\(path)")
        request.method = .POST
        request.body = .bytes(ByteBuffer(bytes: try JSONEncoder().encode(body)))
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(15))
        guard (200..<300).contains(response.status.code) else {
            throw BenchmarkFailure("the admin door answered \(response.status.code) for \(path)")
        }
    }

    private static func say(_ text: String) {
        FileHandle.standardError.write(Data("\(text)\n".utf8))
    }
}
