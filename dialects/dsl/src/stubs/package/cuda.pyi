from tilefoundry.dsl.T.cuda import mma as mma
