public import Foundation

/// The environment of the push service to which tokens belong.
public enum PushEnvironment: String, Hashable, Sendable, Codable {
    case sandbox
    case production

    /// Returns the environment in the provisioning profile of an app's bundle.
    ///
    /// An app from the App Store or TestFlight has no profile and is in production. An app in Apple's simulator has
    /// none either and is in the sandbox. The result is `nil` for a profile that lacks the push entitlement or cannot
    /// be parsed.
    public static func detected(in bundle: Bundle = .main) -> PushEnvironment? {
        #if targetEnvironment(simulator)
        return .sandbox
        #else
        let inside = bundle.bundleURL.appending(path: "Contents/embedded.provisionprofile")
        let files = [bundle.url(forResource: "embedded", withExtension: "mobileprovision"), inside]
        for case let file? in files where FileManager.default.fileExists(atPath: file.path) {
            return ProvisioningProfile(contentsOf: file)?.environment
        }
        return .production
        #endif
    }
}

/// A provisioning profile, of which only the push environment is used.
struct ProvisioningProfile: Equatable {
    /// The maximum size of a profile in bytes. A larger file is not regarded as a profile.
    static let maximumSize = 1024 * 1024

    /// The push environment in the profile's entitlements, or `nil` if they contain none.
    let environment: PushEnvironment?

    /// Parses a file. Returns `nil` if it is not a profile.
    init?(contentsOf file: URL) {
        guard let handle = try? FileHandle(forReadingFrom: file) else { return nil }
        defer { try? handle.close() }
        guard let bytes = try? handle.read(upToCount: Self.maximumSize + 1) else { return nil }
        self.init(bytes)
    }

    /// Parses the property list within a profile, which is signed data (CMS). Returns `nil` if there is none. The
    /// signature is not checked, because the system has checked that of the app, which contains the profile.
    init?(_ bytes: Data) {
        guard bytes.count <= Self.maximumSize, let start = bytes.range(of: Data("<?xml".utf8)),
            let end = bytes.range(of: Data("</plist>".utf8), in: start.upperBound..<bytes.endIndex),
            let list = try? PropertyListSerialization.propertyList(
                from: Data(bytes[start.lowerBound..<end.upperBound]),
                format: nil
            ),
            let entitlements = (list as? [String: Any])?["Entitlements"] as? [String: Any]
        else { return nil }
        let names = ["aps-environment", "com.apple.developer.aps-environment"]
        switch names.lazy.compactMap({ entitlements[$0] as? String }).first {
        case "development": self.environment = .sandbox
        case "production": self.environment = .production
        default: self.environment = nil
        }
    }
}
