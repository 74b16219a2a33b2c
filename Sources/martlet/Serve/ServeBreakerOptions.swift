import ArgumentParser
import Configuration
import PushProvider

/// When so many tokens are called dead or bad that none is deactivated any more.
struct ServeBreakerOptions: ParsableArguments {
    @Option(help: "Answers before anything is concluded (serve.breaker.minimum; 1 to 1000000, default: 200).")
    var breakerMinimum: Int?

    @Option(help: "Percent of dead tokens from which it opens (serve.breaker.dead; 1 to 100, default: 30).")
    var breakerDead: Int?

    @Option(help: "Percent of bad tokens from which it opens (serve.breaker.bad; 1 to 100, default: 50).")
    var breakerBad: Int?

    @Option(help: "Answers from which old ones fade (serve.breaker.memory; 1 to 1000000, default: 4000).")
    var breakerMemory: Int?

    var flags: [String: ConfigValue?] {
        [
            "serve.breaker.minimum": self.breakerMinimum.setting(), "serve.breaker.dead": self.breakerDead.setting(),
            "serve.breaker.bad": self.breakerBad.setting(), "serve.breaker.memory": self.breakerMemory.setting(),
        ]
    }

    /// What the settings say, besides the defaults; ``Settings/check()`` comes after that.
    /// - Throws: ``SettingsError`` for limits by which the breaker could never open.
    static func limits(_ settings: Settings) throws -> CircuitBreaker.Limits {
        var limits = CircuitBreaker.Limits()
        let counts = 1...1_000_000
        if let minimum = settings.integer("serve.breaker.minimum", in: counts) { limits.minimum = minimum }
        if let memory = settings.integer("serve.breaker.memory", in: counts) { limits.memory = memory }
        if let percent = settings.integer("serve.breaker.dead", in: 1...100) { limits.dead = Double(percent) / 100 }
        if let percent = settings.integer("serve.breaker.bad", in: 1...100) { limits.bad = Double(percent) / 100 }
        guard limits.memory >= limits.minimum else {
            throw SettingsError(
                """
                serve.breaker.memory: \(limits.memory) is less than serve.breaker.minimum, \(limits.minimum): too few \
                answers would be remembered for the breaker to open
                """
            )
        }
        return limits
    }
}
