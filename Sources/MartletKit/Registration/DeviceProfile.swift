import Foundation

/// The presentations that the user allows, and the app's ability to be woken.
public struct Capabilities: OptionSet, Hashable, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    public static let alert = Capabilities(rawValue: 1)
    public static let badge = Capabilities(rawValue: 2)
    public static let sound = Capabilities(rawValue: 4)
    /// The app can be woken in the background.
    public static let background = Capabilities(rawValue: 8)

    /// The API's word for each capability.
    private static let words: [(Capabilities, String)] = [
        (.alert, "alert"), (.badge, "badge"), (.sound, "sound"), (.background, "background"),
    ]

    /// The API's words for these capabilities.
    package var names: [String] { Self.words.compactMap { self.contains($0) ? $1 : nil } }

    /// Makes the capabilities that the API's words name. Other words are ignored.
    package init(names: [String]) { self.init(Self.words.compactMap { names.contains($1) ? $0 : nil }) }
}

/// The settings of the device by which the provider selects, localizes and times notifications.
public struct DeviceProfile: Hashable, Sendable {
    /// A BCP 47 tag such as `pt-BR`.
    public var locale: String?
    /// A name such as `Europe/Berlin`.
    public var timeZone: String?
    /// Numbers such as `2.10.1`.
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
    /// - Parameter capabilities: The capabilities; `nil` keeps those that the provider has.
    public static func current(capabilities: Capabilities? = nil) -> DeviceProfile {
        DeviceProfile(
            locale: Locale.preferredLanguages.first ?? Locale.current.identifier(.bcp47),
            timeZone: TimeZone.current.identifier,
            appVersion: Bundle.main.object(forInfoDictionaryKey: "CFBundleShortVersionString") as? String,
            capabilities: capabilities
        )
    }

    /// The members of a registration.
    var members: [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        members["locale"] = self.locale.map { .string($0) }
        members["timeZone"] = self.timeZone.map { .string($0) }
        members["appVersion"] = self.appVersion.map { .string($0) }
        members["capabilities"] = self.capabilities.map { .array($0.names.map { .string($0) }) }
        return members
    }
}
