/// The settings of `martlet send` without a provider.
enum SendSettings: SettingSection {
    static let proxy = Setting("send.proxy", flag: "proxy", kind: .secret)
        .help("http://[USER:PASSWORD@]HOST:PORT, a proxy that gives tunnels")

    static let settings = [proxy]
}
