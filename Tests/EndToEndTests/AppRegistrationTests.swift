import Crypto
import Foundation
import MartletKit
import ProviderModel
import PushSupport
import PushTesting
import Testing

/// An app with MartletKit, and a provider.
@Suite(.timeLimit(.patience)) struct AppRegistrationTests {
    private static let app = "/v1/apps/\(Vectors.bundleID)"
    private static let token = Data(repeating: 0xA7, count: 32)

    /// A provider with an app, and settings that have only the public key of the app.
    private func withApp(
        _ body: @escaping @Sendable (RunningProvider, Martlet.Configuration, URL) async throws -> Void
    ) async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            let key: PushSupport.JSONValue = [
                "name": "app", "scopes": ["registerSelf"], "apps": [.string(Vectors.bundleID)],
            ]
            let issued = try await provider.api.post("/v1/keys", key).json["key"].stringValue ?? ""
            let url = try #require(URL(string: provider.api.baseURL))
            var configuration = try Martlet.Configuration(provider: url, app: Vectors.bundleID, key: issued)
            configuration.environment = .sandbox
            let ready = configuration
            try await withTemporaryDirectory { directory in
                try await body(provider, ready, URL(fileURLWithPath: directory))
            }
        }
    }

    private static func devices(
        _ provider: RunningProvider,
        _ token: Data = token
    ) async throws -> [PushSupport.JSONValue] {
        let text = token.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        return try await provider.api.get("\(Self.app)/devices/\(text)").json["devices"].elements
    }

    @Test("An installation registers its tokens and its user, changes them, and leaves")
    func registration() async throws {
        try await self.withApp { provider, configuration, folder in
            let issued = try await provider.api.post("\(Self.app)/user-secrets", [:])
            let secret = try #require(issued.json["secret"].stringValue)
            let martlet = Martlet(configuration, storage: try FolderStorage(folder: folder))
            try await martlet.updateProfile(
                DeviceProfile(
                    locale: "pt-BR",
                    timeZone: "Europe/Berlin",
                    appVersion: "2.1",
                    capabilities: [.alert, .badge]
                )
            )
            try await martlet.register(token: Self.token)
            try await martlet.register(token: Data(repeating: 0xB7, count: 32), kind: .voip)
            try await martlet.register(
                token: Data(repeating: 0xC7, count: 32),
                kind: .liveActivityUpdate(activity: "order-42")
            )
            let status = try #require(await martlet.status())
            try await martlet.attach(userProof: try Self.proof("alice", status.installation, secret))
            await martlet.synchronize()
            #expect(await martlet.status()?.isConfirmed == true)
            let device = try #require(try await Self.devices(provider).first)
            #expect(device["installation"].stringValue == status.installation.uuidString)
            #expect(device["user"] == "alice" && device["locale"] == "pt-BR" && device["appVersion"] == "2.1")
            #expect(device["environment"] == "sandbox" && device["timeZone"] == "Europe/Berlin")
            let activity = try #require(try await Self.devices(provider, Data(repeating: 0xC7, count: 32)).first)
            #expect(activity["activity"] == "order-42" && activity["user"] == "alice")

            // The token changes, and the user leaves, in another process.
            let other = Martlet(configuration, storage: try FolderStorage(folder: folder))
            try await other.register(token: Data(repeating: 0xD7, count: 32))
            try await other.detach()
            await other.synchronize()
            #expect(try await Self.devices(provider).isEmpty)
            let changed = try #require(try await Self.devices(provider, Data(repeating: 0xD7, count: 32)).first)
            #expect(changed["id"] == device["id"] && changed["user"].stringValue == nil)

            try await other.unregister()
            await other.synchronize()
            #expect(try await Self.devices(provider, Data(repeating: 0xD7, count: 32)).isEmpty)
        }
    }

    @Test("What the provider refuses is left out, and the rest is registered")
    func refusals() async throws {
        try await self.withApp { provider, configuration, folder in
            let martlet = Martlet(configuration, storage: try FolderStorage(folder: folder))
            try await martlet.updateProfile(
                DeviceProfile(locale: "no locale!", timeZone: "Mars/Olympus", appVersion: "1.0")
            )
            try await martlet.setTags(["not-allowed"])
            try await martlet.setAttribute("team", to: "red")
            try await martlet.attach(userProof: "no.jwt.atall")
            try await martlet.register(token: Self.token)
            await martlet.synchronize()
            let device = try #require(try await Self.devices(provider).first)
            #expect(device["appVersion"] == "1.0" && device["locale"].stringValue == nil)
            #expect(device["tags"].elements.isEmpty)
            #expect(await martlet.status()?.isConfirmed == true)
        }
    }

    @Test("An installation whose secret is lost goes on as another, with its tokens")
    func lostSecret() async throws {
        try await self.withApp { provider, configuration, folder in
            let martlet = Martlet(configuration, storage: try FolderStorage(folder: folder))
            try await martlet.register(token: Self.token)
            await martlet.synchronize()
            let first = try #require(await martlet.status()?.installation)
            let file = folder.appending(path: "state")
            let state = String(decoding: try Data(contentsOf: file), as: UTF8.self)
            let secret = try #require(state.firstMatch(of: /"secret":"[^"]*"/))
            try Data(state.replacing(secret.output, with: #""secret":"lost""#).utf8).write(to: file)
            let other = Martlet(configuration, storage: try FolderStorage(folder: folder))
            try await other.register(token: Data(repeating: 0xD7, count: 32))
            await other.synchronize()
            let second = try #require(await other.status())
            #expect(second.isConfirmed && second.installation != first)
            let device = try #require(try await Self.devices(provider, Data(repeating: 0xD7, count: 32)).first)
            #expect(device["installation"].stringValue == second.installation.uuidString)
        }
    }

    @Test("A provider that is not there is tried later, and loses nothing")
    func noProvider() async throws {
        try await self.withApp { provider, configuration, folder in
            let nowhere = try #require(URL(string: "http://127.0.0.1:1"))
            let settings = try Martlet.Configuration(provider: nowhere, app: configuration.app, key: configuration.key)
            let martlet = Martlet(settings, storage: try FolderStorage(folder: folder))
            try await martlet.register(token: Self.token)
            await martlet.synchronize()
            #expect(await martlet.status()?.isConfirmed == false)
            let later = Martlet(configuration, storage: try FolderStorage(folder: folder))
            try await later.register(token: Self.token)
            await later.synchronize()
            #expect(await later.status()?.isConfirmed == true)
        }
    }

    /// Signs as the app's back end does.
    private static func proof(_ user: String, _ installation: UUID, _ secret: String) throws -> String {
        func encode(_ data: Data) -> String {
            data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        }
        let expiry = Int64(Date().timeIntervalSince1970) + 600
        let claims: PushSupport.JSONValue = [
            "sub": .string(user), "exp": .integer(expiry), "installation": .string(installation.uuidString),
        ]
        let signed = "\(encode(Data(#"{"alg":"HS256"}"#.utf8))).\(encode(try claims.text))"
        let key = SymmetricKey(data: Data(secret.utf8))
        let code = HMAC<SHA256>.authenticationCode(for: Data(signed.utf8), using: key)
        return "\(signed).\(encode(Data(code)))"
    }
}
