/// The settings of `martlet send` without a provider.
enum SendSettings: SettingSection {
    static let proxy = Setting("send.proxy", flag: "proxy", kind: .secret)
        .help("HTTP proxy, as http://[USER:PASSWORD@]HOST:PORT")
        .detail("It must allow CONNECT to the push service. MARTLET_SEND_PROXY hides the password from process lists.")

    static let settings = [proxy]
}
