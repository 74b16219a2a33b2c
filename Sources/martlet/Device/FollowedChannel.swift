/// A channel as the option names it: APP:ID.
struct FollowedChannel {
    let app: String
    let id: String

    init(_ text: String) throws {
        let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
        guard parts.count == 2 else {
            throw SettingsError("device.channels: '\(text)' is no APP:ID, such as com.example.MyApp:dHN0LXNyY2g=")
        }
        (self.app, self.id) = (parts[0], parts[1])
    }
}
