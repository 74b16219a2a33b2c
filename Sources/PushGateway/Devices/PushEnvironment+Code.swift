import PushTypes

extension PushEnvironment {
    /// The byte that stands for the environment in tokens and event blocks; 0 stands for none. Never renumber.
    var code: UInt8 {
        switch self {
        case .sandbox: 1
        case .production: 2
        }
    }

    init?(code: UInt8) {
        guard let environment = Self.allCases.first(where: { $0.code == code }) else { return nil }
        self = environment
    }
}
