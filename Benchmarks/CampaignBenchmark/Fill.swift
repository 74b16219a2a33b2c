import ArgumentParser
import Benchmarking
import Foundation
import ProviderAPI
import ProviderModel
import PushStore
import PushSupport
import PushTypes

/// Creates a provider's database: an app with its credential, and devices with profiles, by the store's batch registration.
struct Fill: AsyncParsableCommand {
    private static let batch = 5000
    private static let locales = ["en", "de", "fr", "pt-BR"]

    @OptionGroup var tokens: TokenOptions
    @Option(help: "The provider's data directory.") var dataDirectory: String
    @Option(help: "The app's .p8 file.") var key: String

    func run() async throws {
        try FileManager.default.createDirectory(atPath: self.dataDirectory, withIntermediateDirectories: true)
        let paths = ProviderConfiguration(dataDirectory: self.dataDirectory)
        let store = try SQLStore(
            path: paths.databasePath,
            masterKey: MasterKey.load(orCreateAt: paths.masterKeyPath)
        )
        let now = SystemTime().now
        let app = try await store.addApp(bundleID: BenchmarkApp.topic, AppChanges(), now: now).app.id
        let credential = CredentialRecord.key(
            teamID: BenchmarkApp.teamID,
            keyID: BenchmarkApp.keyID,
            privateKey: try String(contentsOfFile: self.key, encoding: .utf8)
        )
        for environment in PushEnvironment.allCases {
            try await store.setCredential(credential, app: app, environment: environment)
        }
        let start = ContinuousClock.now
        let all = try self.tokens.all()
        for first in stride(from: 0, to: all.count, by: Self.batch) {
            let devices = (first..<min(all.count, first + Self.batch)).map { Self.device(all[$0], number: $0) }
            let results = try await store.register(devices, app: app, now: now)
            guard results.allSatisfy({ $0.kind == .added }) else { throw BenchmarkFailure("a token came twice") }
            if (first / Self.batch) % 20 == 19 { say("\(first + Self.batch) devices") }
        }
        figure("fill_rate", Double(all.count) / ((ContinuousClock.now - start) / .seconds(1)), "devices/s")
        try await store.close()
    }

    /// Returns a device with one of four locales, three attributes and a user.
    private static func device(_ token: DeviceToken, number: Int) -> DeviceRegistration {
        var device = DeviceRegistration(environment: .sandbox, token: token)
        device.user = .set("user\(number)")
        device.locale = .set(Self.locales[number % Self.locales.count])
        device.appVersion = .set("1.\(number % 20)")
        device.attributes = [
            "name": .set(.string("Person \(number)")), "points": .set(.integer(Int64(number % 1000))),
            "city": .set(.string("City \(number % 100)")),
        ]
        return device
    }
}

/// Creates an empty file for each token, so that a file server responds to a push with 200.
struct Paths: ParsableCommand {
    @OptionGroup var tokens: TokenOptions
    @Option(help: "The file server's root.") var root: String

    func run() throws {
        let folder = "\(self.root)/3/device"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let empty = "\(self.root)/empty"
        guard FileManager.default.createFile(atPath: empty, contents: nil) else {
            throw BenchmarkFailure("cannot write to \(self.root)")
        }
        // A hard link costs less memory than a file.
        for token in try self.tokens.all() where link(empty, "\(folder)/\(token.hex)") != 0 && errno != EEXIST {
            throw BenchmarkFailure("cannot make a file for each token in \(folder): error \(errno)")
        }
    }
}
