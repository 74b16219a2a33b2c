import Foundation

/// The abilities of an app on a device: the presentations that the user allows, and being woken in the background.
public struct Capabilities: OptionSet, Hashable, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    public static let alert = Capabilities(rawValue: 1)
    public static let badge = Capabilities(rawValue: 2)
    public static let sound = Capabilities(rawValue: 4)
    /// The ability to be woken in the background.
    public static let background = Capabilities(rawValue: 8)

    private static let words: [(Capabilities, String)] = [
        (.alert, "alert"), (.badge, "badge"), (.sound, "sound"), (.background, "background"),
    ]

    package var names: [String] { Self.words.compactMap { self.contains($0) ? $1 : nil } }

    /// Creates the capabilities with these names in the provider's API. Unknown names are ignored.
    package init(names: [String]) { self.init(Self.words.compactMap { names.contains($1) ? $0 : nil }) }
}

/// The settings of the device by which the provider selects, localizes and times notifications.
public struct DeviceProfile: Hashable, Sendable {
    /// The user's language as a BCP 47 tag such as `pt-BR`, or `nil` to leave the one at the provider unchanged.
    public var locale: String?
    /// The identifier of the time zone, such as `Europe/Berlin`, or `nil` to leave the one at the provider unchanged.
    public var timeZone: String?
    /// The version of the app as numbers such as `2.10.1`, or `nil` to leave the one at the provider unchanged.
    public var appVersion: String?
    public var capabilities: Capabilities?

    public init(
        locale: String? = nil,
        timeZone: String? = nil,
        appVersion: String? = nil,
        capabilities: Capabilities? = nil
    ) {
        (self.locale, self.timeZone, self.appVersion) = (locale, timeZone, appVersion)
        self.capabilities = capabilities
    }

    /// Returns the profile of this device: its first language, its time zone and the version of the app.
    /// - Parameter capabilities: The capabilities, or `nil` to leave those at the provider unchanged.
    public static func current(capabilities: Capabilities? = nil) -> DeviceProfile {
        DeviceProfile(
            locale: Locale.preferredLanguages.first ?? Locale.current.identifier(.bcp47),
            timeZone: TimeZone.current.identifier,
            appVersion: Bundle.main.object(forInfoDictionaryKey: "CFBundleShortVersionString") as? String,
            capabilities: capabilities
        )
    }

    var members: [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        members["locale"] = self.locale.map { .string($0) }
        members["timeZone"] = self.timeZone.map { .string($0) }
        members["appVersion"] = self.appVersion.map { .string($0) }
        members["capabilities"] = self.capabilities.map { .array($0.names.map { .string($0) }) }
        return members
    }
}
